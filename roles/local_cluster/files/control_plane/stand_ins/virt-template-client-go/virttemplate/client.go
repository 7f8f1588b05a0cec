// Package virttemplate stands in for the module of the same name, version 0.2.0, of which KubeVirt needs the REST client only.
package virttemplate

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
)

// Client is a client of template.kubevirt.io/v1beta1.
type Client struct{ rest.Interface }

// NewForConfig returns a client with the connection of config.
func NewForConfig(config *rest.Config) (Client, error) {
	own := rest.CopyConfig(config)
	own.APIPath, own.GroupVersion = "/apis", &schema.GroupVersion{Group: "template.kubevirt.io", Version: "v1beta1"}
	own.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
	client, err := rest.RESTClientFor(own)
	return Client{client}, err
}

// TemplateV1beta1 is the client itself.
func (c Client) TemplateV1beta1() Client { return c }

// RESTClient is the client of the group's paths.
func (c Client) RESTClient() rest.Interface { return c.Interface }
