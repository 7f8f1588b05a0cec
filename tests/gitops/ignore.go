package main

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// ignored is the list ignoreDifferences of an Application.
type ignored []struct {
	Group        string   `json:"group"`
	Kind         string   `json:"kind"`
	Name         string   `json:"name"`
	Namespace    string   `json:"namespace"`
	JSONPointers []string `json:"jsonPointers"`
}

// Normalize removes the ignored fields. The engine calls it for both sides of a comparison.
func (entries ignored) Normalize(object *unstructured.Unstructured) error {
	for _, path := range entries.of(object) {
		unstructured.RemoveNestedField(object.Object, path...)
	}
	return nil
}

// keepLive gives a target the live values of ignored fields, so that a sync leaves them alone.
func (entries ignored) keepLive(target, live *unstructured.Unstructured) error {
	for _, path := range entries.of(target) {
		value, found, err := unstructured.NestedFieldCopy(live.Object, path...)
		if err == nil && found {
			err = unstructured.SetNestedField(target.Object, value, path...)
		} else {
			unstructured.RemoveNestedField(target.Object, path...)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", strings.Join(path, "."), err)
		}
	}
	return nil
}

// of returns the paths of an object's ignored fields, none of which is in a list.
func (entries ignored) of(object *unstructured.Unstructured) (paths [][]string) {
	kind := object.GroupVersionKind()
	for _, entry := range entries {
		if entry.Group != kind.Group || entry.Kind != kind.Kind ||
			(entry.Name != "" && entry.Name != object.GetName()) ||
			(entry.Namespace != "" && entry.Namespace != object.GetNamespace()) {
			continue
		}
		for _, pointer := range entry.JSONPointers {
			paths = append(paths, strings.Split(strings.TrimPrefix(pointer, "/"), "/"))
		}
	}
	return paths
}
