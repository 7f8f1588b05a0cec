// Package api stands in for the module of the same name, version 0.2.0, of which KubeVirt needs these names only.
package api

const (
	GroupName            = "template.kubevirt.io"
	SingularResourceName = "virtualmachinetemplate"
	PluralResourceName   = "virtualmachinetemplates"
)
