// Reads YAML texts, one JSON string a line, and writes the JSON that kubectl makes of each, or {"!error": reason}.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	"sigs.k8s.io/yaml"
)

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var text string
		if err := json.Unmarshal(lines.Bytes(), &text); err != nil {
			panic(err)
		}
		answer, err := yaml.YAMLToJSON([]byte(text))
		if err != nil {
			answer, _ = json.Marshal(map[string]string{"!error": err.Error()})
		}
		fmt.Println(string(answer))
	}
}
