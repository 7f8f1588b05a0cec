// Package v1beta1 has what KubeVirt's export controller reads of a VirtualMachineTemplate.
package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// ConditionReady is the type of the condition of a usable template.
const ConditionReady = "Ready"

var GroupVersion = schema.GroupVersion{Group: "template.kubevirt.io", Version: "v1beta1"}

type VirtualMachineTemplate struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              VirtualMachineTemplateSpec   `json:"spec"`
	Status            VirtualMachineTemplateStatus `json:"status,omitempty"`
}

type VirtualMachineTemplateSpec struct {
	VirtualMachine *runtime.RawExtension `json:"virtualMachine"`
	Parameters     []Parameter           `json:"parameters,omitempty"`
}

type VirtualMachineTemplateStatus struct {
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

type Parameter struct {
	Name  string `json:"name"`
	Value string `json:"value,omitempty"`
}

// DeepCopy returns a copy that shares nothing with the original.
func (in *VirtualMachineTemplate) DeepCopy() *VirtualMachineTemplate {
	out := *in
	in.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Spec.VirtualMachine = in.Spec.VirtualMachine.DeepCopy()
	out.Spec.Parameters = append([]Parameter(nil), in.Spec.Parameters...)
	out.Status.Conditions = append([]metav1.Condition(nil), in.Status.Conditions...)
	return &out
}

// DeepCopyObject makes it a runtime.Object.
func (in *VirtualMachineTemplate) DeepCopyObject() runtime.Object { return in.DeepCopy() }
