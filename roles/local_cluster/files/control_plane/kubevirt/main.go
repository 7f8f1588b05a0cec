// Kubevirt prints, as a list in JSON, what an administrator and virt-operator install of the KubeVirt release that it
// is built with.
package main

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kubevirt "kubevirt.io/api/core/v1"
	"kubevirt.io/kubevirt/pkg/virt-operator/resource/generate/components"
	"kubevirt.io/kubevirt/pkg/virt-operator/resource/generate/install"
	"kubevirt.io/kubevirt/pkg/virt-operator/util"
	"sigs.k8s.io/yaml"
)

const namespace = "kubevirt"

func main() {
	objects, err := installation()
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(objects)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "kubevirt:", err)
		os.Exit(1)
	}
}

// installation decodes the manifests that virt-operator stores in a ConfigMap before it applies them.
func installation() ([]json.RawMessage, error) {
	object := &kubevirt.KubeVirt{ObjectMeta: metav1.ObjectMeta{Name: "kubevirt", Namespace: namespace}}
	stored, err := install.NewInstallStrategyConfigMap(util.GetTargetConfigFromKV(object), "", namespace)
	if err != nil {
		return nil, err
	}
	compressed := base64.NewDecoder(base64.StdEncoding, strings.NewReader(stored.Data["manifests"]))
	reader, err := gzip.NewReader(compressed)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(reader)
	if err != nil {
		return nil, err
	}
	definition, err := components.NewKubeVirtCrd()
	if err != nil {
		return nil, err
	}
	own, err := json.Marshal(definition)
	if err != nil {
		return nil, err
	}
	objects := []json.RawMessage{own}
	for _, document := range bytes.Split(text, []byte("---\n")) {
		if len(bytes.TrimSpace(document)) == 0 {
			continue
		}
		object, err := yaml.YAMLToJSON(document)
		if err != nil {
			return nil, err
		}
		objects = append(objects, object)
	}
	return objects, nil
}
