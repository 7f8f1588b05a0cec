/* The first container of each pod: it holds the pod's namespaces until it is told to end. */
#include <unistd.h>

int main(void) {
    for (;;) pause();
}
