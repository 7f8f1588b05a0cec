// Cdi runs the API server and the controllers of the Containerized Data Importer (CDI) in one process.
//
// CDI's own programs listen on all addresses, on ports that cannot be chosen, and read keys from folders of a container.
// This one gives the same servers and controllers a loopback address and files of the cluster's folder. With -manifests
// it prints, as a list in JSON, what CDI's operator installs.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"

	"github.com/go-logr/logr"
	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v6/apis/volumesnapshot/v1"
	snapshots "github.com/kubernetes-csi/external-snapshotter/client/v6/clientset/versioned"
	configv1 "github.com/openshift/api/config/v1"
	imagev1 "github.com/openshift/api/image/v1"
	routev1 "github.com/openshift/api/route/v1"
	corev1 "k8s.io/api/core/v1"
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	aggregator "k8s.io/kube-aggregator/pkg/client/clientset_generated/clientset"
	cdiv1 "kubevirt.io/containerized-data-importer-api/pkg/apis/core/v1beta1"
	forklift "kubevirt.io/containerized-data-importer-api/pkg/apis/forklift/v1beta1"
	"kubevirt.io/containerized-data-importer/pkg/apiserver"
	cdi "kubevirt.io/containerized-data-importer/pkg/client/clientset/versioned"
	"kubevirt.io/containerized-data-importer/pkg/common"
	"kubevirt.io/containerized-data-importer/pkg/controller"
	"kubevirt.io/containerized-data-importer/pkg/controller/datavolume"
	"kubevirt.io/containerized-data-importer/pkg/controller/populators"
	"kubevirt.io/containerized-data-importer/pkg/controller/transfer"
	"kubevirt.io/containerized-data-importer/pkg/keys"
	"kubevirt.io/containerized-data-importer/pkg/operator/resources"
	"kubevirt.io/containerized-data-importer/pkg/operator/resources/cluster"
	"kubevirt.io/containerized-data-importer/pkg/operator/resources/namespaced"
	"kubevirt.io/containerized-data-importer/pkg/util/cert/fetcher"
	"kubevirt.io/containerized-data-importer/pkg/util/cert/generator"
	"kubevirt.io/containerized-data-importer/pkg/util/cert/watcher"
	cryptowatch "kubevirt.io/containerized-data-importer/pkg/util/tls-crypto-watch"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metrics "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/yaml"
)

const (
	namespace  = "cdi"
	pullPolicy = "IfNotPresent"
	verbosity  = "1"
)

// config is the file named by the only argument.
type config struct {
	Kubeconfig string `json:"kubeconfig"`
	Host       string `json:"host"`
	Port       uint   `json:"port"`
	// Certificate and key of the API server.
	Certificate string `json:"certificate"`
	Key         string `json:"key"`
	// The authorities that sign the certificates of upload servers and of their clients.
	UploadServerCA    authority `json:"uploadServerCA"`
	UploadClientCA    authority `json:"uploadClientCA"`
	UploadProxy       string    `json:"uploadProxy"`
	ImporterImage     string    `json:"importerImage"`
	UploadServerImage string    `json:"uploadServerImage"`
}

type authority struct {
	Certificate string `json:"certificate"`
	Key         string `json:"key"`
	// Bundle is the ConfigMap that has the certificate too.
	Bundle string `json:"bundle"`
}

var labels = map[string]string{}

func main() {
	klog.InitFlags(nil)
	manifests := flag.Bool("manifests", false, "print what CDI's operator installs")
	flag.Parse()
	err := errors.New("usage: cdi CONFIG.json, or cdi -manifests")
	if *manifests {
		err = printManifests()
	} else if flag.NArg() == 1 {
		err = run(flag.Arg(0))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "cdi:", err)
		os.Exit(1)
	}
}

func run(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	cfg := &config{}
	if err := json.Unmarshal(text, cfg); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	connection, err := clientcmd.BuildConfigFromFlags("", cfg.Kubeconfig)
	if err != nil {
		return err
	}
	// CDI has no limit. While a claim is pending, two of its controllers undo each other's annotations without a pause;
	// beside them, Kubernetes' binder rarely gets to write the claim, and with an API server this near it never did.
	connection.QPS, connection.Burst = 50, 50
	ctrl.SetLogger(klog.NewKlogr())
	ctx := ctrl.SetupSignalHandler()
	scheme, err := newScheme()
	if err != nil {
		return err
	}
	mgr, err := ctrl.NewManager(connection, manager.Options{Scheme: scheme, Metrics: metrics.Options{BindAddress: "0"}})
	if err != nil {
		return err
	}
	server, err := newServer(ctx, cfg, connection, mgr)
	if err != nil {
		return err
	}
	if err := addControllers(ctx, cfg, connection, mgr); err != nil {
		return err
	}
	ended := make(chan error, 2)
	go func() { ended <- mgr.Start(ctx) }()
	if !mgr.GetCache().WaitForCacheSync(ctx) {
		return <-ended
	}
	go func() { ended <- server.Start(ctx.Done()) }()
	return <-ended
}

func newScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, extv1.AddToScheme, cdiv1.AddToScheme, forklift.AddToScheme, snapshotv1.AddToScheme,
		configv1.Install, imagev1.Install, routev1.Install,
	} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	return scheme, nil
}

// newServer returns the server of the admission webhooks and of upload.cdi.kubevirt.io.
func newServer(ctx context.Context, cfg *config, connection *rest.Config, mgr manager.Manager) (apiserver.CdiAPIServer, error) {
	kube, err := kubernetes.NewForConfig(connection)
	if err != nil {
		return nil, err
	}
	cdiClient := cdi.NewForConfigOrDie(connection)
	authentication, err := apiserver.NewAuthConfigWatcher(ctx, kube)
	if err != nil {
		return nil, err
	}
	ciphers, err := cryptowatch.NewCdiConfigTLSWatcher(ctx, cdiClient)
	if err != nil {
		return nil, err
	}
	authorizer, err := apiserver.NewAuthorizorFromConfig(connection, authentication)
	if err != nil {
		return nil, err
	}
	certificate, err := watcher.New(cfg.Certificate, cfg.Key)
	if err != nil {
		return nil, err
	}
	reader, err := newReader(connection, mgr)
	if err != nil {
		return nil, err
	}
	return apiserver.NewCdiAPIServer(cfg.Host, cfg.Port, kube, aggregator.NewForConfigOrDie(connection), cdiClient,
		snapshots.NewForConfigOrDie(connection), reader, authorizer, authentication, ciphers, certificate, labels)
}

// newReader returns the webhooks' client, which reads from the cache only what CDI's API server does.
func newReader(connection *rest.Config, mgr manager.Manager) (client.Client, error) {
	return client.New(connection, client.Options{Scheme: mgr.GetScheme(), Cache: &client.CacheOptions{
		Reader: mgr.GetCache(),
		DisableFor: []client.Object{
			&corev1.PersistentVolumeClaim{}, &corev1.Namespace{}, &corev1.Secret{}, &corev1.ConfigMap{},
			&cdiv1.DataVolume{}, &cdiv1.DataSource{}, &cdiv1.DataImportCron{}, &cdiv1.CDI{}, &cdiv1.CDIConfig{},
			&snapshotv1.VolumeSnapshot{}, &snapshotv1.VolumeSnapshotContent{},
		},
	}})
}

func addControllers(ctx context.Context, cfg *config, connection *rest.Config, mgr manager.Manager) error {
	kube, err := kubernetes.NewForConfig(connection)
	if err != nil {
		return err
	}
	key, err := keys.GetOrCreatePrivateKey(kube, namespace, apiserver.APISigningKeySecretName, labels)
	if err != nil {
		return err
	}
	public := &key.PublicKey
	signer := func(ca authority) generator.CertGenerator {
		return &generator.FetchCertGenerator{Fetcher: &fetcher.FileCertFetcher{CertFileName: ca.Certificate, KeyFileName: ca.Key}}
	}
	bundle := func(ca authority) fetcher.CertBundleFetcher {
		return &fetcher.ConfigMapCertBundleFetcher{Name: ca.Bundle, Client: kube.CoreV1().ConfigMaps(namespace)}
	}
	if err := datavolume.CreateCommonIndexes(mgr); err != nil {
		return err
	}
	if err := populators.CreateCommonPopulatorIndexes(mgr); err != nil {
		return err
	}
	image, upload, log := cfg.ImporterImage, cfg.UploadServerImage, mgr.GetLogger()
	return errors.Join(
		failure(controller.NewConfigController(mgr, log, cfg.UploadProxy, common.ConfigName, labels)),
		failure(controller.NewStorageProfileController(mgr, log, labels)),
		failure(controller.NewDataSourceController(mgr, log, labels)),
		failure(controller.NewDataImportCronController(mgr, log, image, pullPolicy, labels)),
		failure(controller.NewImportController(mgr, log, image, pullPolicy, verbosity, labels)),
		failure(controller.NewCloneController(mgr, log, image, pullPolicy, verbosity, signer(cfg.UploadClientCA), bundle(cfg.UploadServerCA), public, labels)),
		failure(controller.NewUploadController(mgr, log, upload, pullPolicy, verbosity, signer(cfg.UploadServerCA), bundle(cfg.UploadClientCA), labels)),
		failure(transfer.NewObjectTransferController(mgr, log, labels)),
		failure(datavolume.NewImportController(ctx, mgr, log, labels)),
		failure(datavolume.NewUploadController(ctx, mgr, log, labels)),
		failure(datavolume.NewPvcCloneController(ctx, mgr, log, image, image, pullPolicy, public, key, labels)),
		failure(datavolume.NewSnapshotCloneController(ctx, mgr, log, image, image, pullPolicy, public, key, labels)),
		failure(datavolume.NewPopulatorController(ctx, mgr, log, labels)),
		failure(populators.NewImportPopulator(ctx, mgr, log, labels)),
		failure(populators.NewUploadPopulator(ctx, mgr, log, labels)),
		failure(populators.NewClonePopulator(ctx, mgr, log, image, pullPolicy, labels, public)),
	)
}

// failure is the error of a constructor, whose result the manager has.
func failure[T any](_ T, err error) error { return err }

// nobody stands for the client by which CDI's operator looks for the certificate of the webhooks.
type nobody struct{ client.Client }

func (nobody) Get(context.Context, client.ObjectKey, client.Object, ...client.GetOption) error {
	return errors.New("not installed yet")
}

func printManifests() error {
	clusterArgs := &cluster.FactoryArgs{Namespace: namespace, Client: nobody{}, Logger: logr.Discard()}
	fixed, err := cluster.CreateAllStaticResources(clusterArgs)
	if err != nil {
		return err
	}
	registrations, err := cluster.CreateAllDynamicResources(clusterArgs)
	if err != nil {
		return err
	}
	rest, err := namespaced.CreateAllResources(&namespaced.FactoryArgs{Namespace: namespace, Verbosity: verbosity, PullPolicy: pullPolicy})
	if err != nil {
		return err
	}
	var operator any
	if err := yaml.Unmarshal([]byte(resources.CDICRDs["cdi"]), &operator); err != nil {
		return err
	}
	objects := []any{operator}
	for _, object := range slices.Concat(fixed, rest, registrations) {
		objects = append(objects, object)
	}
	return json.NewEncoder(os.Stdout).Encode(objects)
}
