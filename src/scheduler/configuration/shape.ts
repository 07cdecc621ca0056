/** The fields of a KubeSchedulerConfiguration file (kubescheduler.config.k8s.io/v1). */
import {
  anything,
  type ConfigurationKind,
  flag,
  int32,
  listOf,
  structOf,
  text,
} from '../../machinery/decode/configuration.ts'
import { extensionPoints } from '../profile/extension-points.ts'
import type { PluginChoice } from '../profile/profile.ts'

export interface WrittenConfiguration {
  readonly parallelism?: number
  readonly leaderElection?: {
    readonly leaderElect?: boolean
    readonly leaseDuration?: string
    readonly renewDeadline?: string
    readonly retryPeriod?: string
    readonly resourceLock?: string
    readonly resourceName?: string
    readonly resourceNamespace?: string
  }
  readonly clientConnection?: {
    readonly kubeconfig?: string
    readonly acceptContentTypes?: string
    readonly contentType?: string
    readonly qps?: number
    readonly burst?: number
  }
  readonly percentageOfNodesToScore?: number
  readonly podInitialBackoffSeconds?: number
  readonly podMaxBackoffSeconds?: number
  readonly profiles?: readonly WrittenProfile[]
  readonly extenders?: readonly WrittenExtender[]
}

export interface WrittenProfile {
  readonly schedulerName?: string
  readonly percentageOfNodesToScore?: number
  readonly plugins?: PluginChoice
  readonly pluginConfig?: readonly { readonly name?: string; readonly args?: unknown }[]
}

export interface WrittenExtender {
  readonly urlPrefix?: string
  readonly filterVerb?: string
  readonly preemptVerb?: string
  readonly prioritizeVerb?: string
  readonly weight?: number
  readonly bindVerb?: string
  readonly enableHTTPS?: boolean
  readonly tlsConfig?: {
    readonly insecure?: boolean
    readonly serverName?: string
    readonly certFile?: string
    readonly keyFile?: string
    readonly caFile?: string
    readonly certData?: string
    readonly keyData?: string
    readonly caData?: string
  }
  readonly httpTimeout?: string
  readonly nodeCacheCapable?: boolean
  readonly managedResources?: readonly { readonly name?: string; readonly ignoredByScheduler?: boolean }[]
  readonly ignorable?: boolean
}

const pluginList = listOf(structOf('Plugin', { name: text, weight: int32 }))
const pluginSet = structOf('PluginSet', { enabled: pluginList, disabled: pluginList })
const number = { kind: 'number' } as const

export const kubeSchedulerConfiguration: ConfigurationKind = {
  kind: 'KubeSchedulerConfiguration',
  versions: ['kubescheduler.config.k8s.io/v1'],
  fields: {
    parallelism: int32,
    leaderElection: structOf('LeaderElectionConfiguration', {
      leaderElect: flag,
      leaseDuration: text,
      renewDeadline: text,
      retryPeriod: text,
      resourceLock: text,
      resourceName: text,
      resourceNamespace: text,
    }),
    clientConnection: structOf('ClientConnectionConfiguration', {
      kubeconfig: text,
      acceptContentTypes: text,
      contentType: text,
      qps: number,
      burst: int32,
    }),
    enableProfiling: flag,
    enableContentionProfiling: flag,
    percentageOfNodesToScore: int32,
    podInitialBackoffSeconds: int32,
    podMaxBackoffSeconds: int32,
    profiles: listOf(
      structOf('KubeSchedulerProfile', {
        schedulerName: text,
        percentageOfNodesToScore: int32,
        plugins: structOf(
          'Plugins',
          Object.fromEntries([...extensionPoints, 'multiPoint'].map((point) => [point, pluginSet])),
        ),
        pluginConfig: listOf(structOf('PluginConfig', { name: text, args: anything })),
      }),
    ),
    extenders: listOf(
      structOf('Extender', {
        urlPrefix: text,
        filterVerb: text,
        preemptVerb: text,
        prioritizeVerb: text,
        weight: int32,
        bindVerb: text,
        enableHTTPS: flag,
        tlsConfig: structOf('ExtenderTLSConfig', {
          insecure: flag,
          serverName: text,
          certFile: text,
          keyFile: text,
          caFile: text,
          certData: text,
          keyData: text,
          caData: text,
        }),
        httpTimeout: text,
        nodeCacheCapable: flag,
        managedResources: listOf(structOf('ExtenderManagedResource', { name: text, ignoredByScheduler: flag })),
        ignorable: flag,
      }),
    ),
    delayCacheUntilActive: flag,
  },
}
