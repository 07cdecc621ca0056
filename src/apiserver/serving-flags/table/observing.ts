/**
 * Flags for traces and profiles, and the flags of this project.
 */
import { type FlagSet, idle, works } from '../flag.ts'

const noLocks = 'there are no locks to wait for'
const noSocket = 'profiles are served at /debug/pprof/ alone'
const noTraces = 'no traces are sent'

export const features: FlagSet = {
  name: 'features',
  flags: [
    idle(noLocks, 'contention-profiling', 'bool', 'note where locks are waited for'),
    idle(noSocket, 'debug-socket-path', 'string', 'the socket that profiles are served on'),
    works('enable-priority-and-fairness', 'bool', 'queue requests by priority, and fairly', 'true'),
    works('profiling', 'bool', 'serve profiles at /debug/pprof/', 'true'),
  ],
}

export const traces: FlagSet = {
  name: 'traces',
  flags: [idle(noTraces, 'tracing-config-file', 'string', 'the file about traces')],
}

/** Flags that kube-apiserver does not have. */
export const own: FlagSet = {
  name: "typernetes'",
  flags: [
    works(
      'accept-data-loss',
      'bool',
      'start although changes that had been acknowledged are missing at the end of the damaged store',
    ),
    works(
      'basic-auth-file',
      'string',
      'passwords to accept: lines of password,user,uid,"group1,group2"; upstream dropped this flag in 1.19',
    ),
    works(
      'controllers',
      'strings',
      "controllers that run in this process, as kube-controller-manager names them: '*' for all; none unless said",
    ),
    works('data-dir', 'string', 'where data are kept when --etcd-servers is not given', '.t8s'),
    works(
      'resource-metrics',
      'bool',
      'answer metrics.k8s.io from the kubelets, as metrics-server does, once there is one; t8s up does so by default',
    ),
  ],
}
