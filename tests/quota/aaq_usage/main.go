// Command aaq_usage says what AAQ counts a VMI's pod as, by AAQ's own code.
//
// It is built in a checkout of kubevirt/application-aware-quota v1.8.0, as cmd/aaq_usage. It reads a case a line, {"vmi":
// VirtualMachineInstance, "pod": Pod, "config": KubeVirtConfiguration}, and writes one line for each: the usage by way of
// counting.
package main

import (
	"bufio"
	"encoding/json"
	"log"
	"os"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
	v1 "kubevirt.io/api/core/v1"
	calc "kubevirt.io/application-aware-quota/pkg/aaq-controller/built-in-usage-calculators"
)

type usageCase struct {
	VMI    *v1.VirtualMachineInstance `json:"vmi"`
	Pod    *corev1.Pod                `json:"pod"`
	Config v1.KubeVirtConfiguration   `json:"config"`
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 64<<20)
	out := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		var given usageCase
		if err := json.Unmarshal(lines.Bytes(), &given); err != nil {
			log.Fatal(err)
		}
		informer := cache.NewSharedIndexInformer(&cache.ListWatch{}, &v1.KubeVirt{}, 0, cache.Indexers{})
		kv := &v1.KubeVirt{}
		kv.Name = "kubevirt"
		kv.Spec.Configuration = given.Config
		if err := informer.GetStore().Add(kv); err != nil {
			log.Fatal(err)
		}
		found := map[string]corev1.ResourceList{}
		for _, way := range calc.MyConfigs {
			usage, err := calc.NewVirtLauncherCalculator(informer, nil, nil, way).CalculateUsageByConfig(given.Pod, given.VMI, true)
			if err != nil {
				log.Fatal(err)
			}
			found[string(way)] = usage
		}
		if err := out.Encode(found); err != nil {
			log.Fatal(err)
		}
	}
}
