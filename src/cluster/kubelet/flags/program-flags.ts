/** The flags of the kubelet that no KubeletConfiguration has: its cluster, its folders, its name. */
import { type FlagSet, idle, works } from '../../../apiserver/serving-flags/flag.ts'

const noCloud = 'there is no cloud provider in this program'
const noLock = 'the ports of the kubelet are its lock'

export const programFlags: FlagSet = {
  name: 'kubelet',
  flags: [
    works('kubeconfig', 'string', "the cluster and the kubelet's credentials; default: $KUBECONFIG"),
    works(
      'bootstrap-kubeconfig',
      'string',
      'a kubeconfig with a bootstrap token, by which the kubelet gets its certificate and writes --kubeconfig',
    ),
    works('cert-dir', 'string', 'the folder of certificates', '/var/lib/kubelet/pki'),
    works('config', 'string', 'a file with a KubeletConfiguration (kubelet.config.k8s.io/v1beta1)'),
    works('config-dir', 'string', 'a folder of files *.conf whose fields override those of --config'),
    works('root-dir', 'string', 'the folder of volumes and other files of pods', '/var/lib/kubelet'),
    works('hostname-override', 'string', 'the name of the node; default: that of this machine'),
    works('node-ip', 'strings', 'addresses of the node; default: the first of this machine'),
    works('node-labels', 'stringToString', 'labels of the node: KEY=VALUE,…'),
    works('image-credential-provider-config', 'string', 'file or folder of the configuration of credential providers'),
    works('image-credential-provider-bin-dir', 'string', 'the folder of their programs'),
    works(
      'redirect-container-streaming',
      'bool',
      'redirect streams of containers to /cri/… of the kubelet instead of forwarding them',
    ),
    idle(noCloud, 'cloud-provider', 'string', 'the cloud provider'),
    idle('the runtime has a cgroup already', 'runtime-cgroups', 'string', 'the cgroup of the runtime'),
    idle(noLock, 'lock-file', 'string', 'a file that only one kubelet may lock'),
    idle(noLock, 'exit-on-lock-contention', 'bool', 'end if another kubelet wants the lock'),
    works('minimum-container-ttl-duration', 'duration', 'the age of an ended container before it is removed'),
    works('maximum-dead-containers', 'int', 'ended containers of the node; negative: no limit', '-1'),
    works(
      'maximum-dead-containers-per-container',
      'int',
      'ended instances of a container that are retained; negative: no limit',
      '1',
    ),
    idle('volumes are mounted by the kernel', 'experimental-mounter-path', 'string', 'a program that mounts'),
    idle(
      'upstream deprecates it',
      'experimental-allocatable-ignore-eviction',
      'bool',
      'do not reserve the thresholds of evictions',
    ),
  ],
}
