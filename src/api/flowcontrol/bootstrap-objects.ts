/**
 * The FlowSchemas and PriorityLevelConfigurations of every cluster (KEP-1040): two of each are mandatory with a fixed
 * spec; the others are suggested and may be changed. Names, numbers and subjects are upstream's.
 */
import type {
  V1FlowSchema,
  V1FlowSchemaSpec,
  V1NonResourcePolicyRule,
  V1PolicyRulesWithSubjects,
  V1PriorityLevelConfiguration,
  V1PriorityLevelConfigurationSpec,
  V1ResourcePolicyRule,
} from '@kubernetes/client-node'
import type { Model, Wire } from '../../machinery/object.ts'

export type FlowSchema = Model<V1FlowSchema>
export type PriorityLevelConfiguration = Model<V1PriorityLevelConfiguration>

/** If `true`, the server resets the spec of the object to its own. */
export const autoUpdateAnnotation = 'apf.kubernetes.io/autoupdate-spec'

type Subject = NonNullable<Wire<V1PolicyRulesWithSubjects>['subjects']>[number]
type ResourceRule = Wire<V1ResourcePolicyRule>
type NonResourceRule = Wire<V1NonResourcePolicyRule>

const everyResource: ResourceRule = {
  verbs: ['*'],
  apiGroups: ['*'],
  resources: ['*'],
  namespaces: ['*'],
  clusterScope: true,
}
const everyPath: NonResourceRule = { verbs: ['*'], nonResourceURLs: ['*'] }
const everything = { resourceRules: [everyResource], nonResourceRules: [everyPath] }

const users = (...names: string[]): Subject[] => names.map((name) => ({ kind: 'User', user: { name } }))
const groups = (...names: string[]): Subject[] => names.map((name) => ({ kind: 'Group', group: { name } }))
const systemAccounts = (...names: string[]): Subject[] =>
  names.map((name) => ({ kind: 'ServiceAccount', serviceAccount: { namespace: 'kube-system', name } }))
const everybody = groups('system:unauthenticated', 'system:authenticated')

const leading = ['get', 'create', 'update']
const leases: ResourceRule = {
  verbs: leading,
  apiGroups: ['coordination.k8s.io'],
  resources: ['leases'],
  namespaces: ['*'],
}

type Rules = Wire<V1PolicyRulesWithSubjects>
const metadata = (name: string) => ({ name, annotations: { [autoUpdateAnnotation]: 'true' } })

function schema(
  name: string,
  level: string,
  matchingPrecedence: number,
  method: 'ByUser' | 'ByNamespace' | undefined,
  rules: Rules,
): FlowSchema {
  const spec: Wire<V1FlowSchemaSpec> = {
    priorityLevelConfiguration: { name: level },
    matchingPrecedence,
    ...(method && { distinguisherMethod: { type: method } }),
    rules: [rules],
  }
  return { kind: 'FlowSchema', apiVersion: 'flowcontrol.apiserver.k8s.io/v1', metadata: metadata(name), spec }
}

const level = (name: string, spec: Wire<V1PriorityLevelConfigurationSpec>): PriorityLevelConfiguration => ({
  kind: 'PriorityLevelConfiguration',
  apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
  metadata: metadata(name),
  spec,
})

const queued = (
  name: string,
  nominalConcurrencyShares: number,
  lendablePercent: number,
  queues: number,
  handSize: number,
): PriorityLevelConfiguration =>
  level(name, {
    type: 'Limited',
    limited: {
      nominalConcurrencyShares,
      lendablePercent,
      limitResponse: { type: 'Queue', queuing: { queues, handSize, queueLengthLimit: 50 } },
    },
  })

export const mandatoryFlowSchemas: readonly FlowSchema[] = [
  schema('exempt', 'exempt', 1, undefined, { subjects: groups('system:masters'), ...everything }),
  schema('catch-all', 'catch-all', 10_000, 'ByUser', { subjects: everybody, ...everything }),
]

export const mandatoryPriorityLevels: readonly PriorityLevelConfiguration[] = [
  level('exempt', { type: 'Exempt', exempt: { nominalConcurrencyShares: 0, lendablePercent: 0 } }),
  level('catch-all', {
    type: 'Limited',
    limited: { nominalConcurrencyShares: 5, lendablePercent: 0, limitResponse: { type: 'Reject' } },
  }),
]

export const suggestedFlowSchemas: readonly FlowSchema[] = [
  schema('system-nodes', 'system', 500, 'ByUser', { subjects: groups('system:nodes'), ...everything }),
  schema('system-node-high', 'node-high', 400, 'ByUser', {
    subjects: groups('system:nodes'),
    resourceRules: [
      { verbs: ['*'], apiGroups: [''], resources: ['nodes', 'nodes/status'], namespaces: ['*'], clusterScope: true },
      { verbs: ['*'], apiGroups: ['coordination.k8s.io'], resources: ['leases'], namespaces: ['*'] },
    ],
  }),
  schema('probes', 'exempt', 2, undefined, {
    subjects: everybody,
    nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/healthz', '/readyz', '/livez'] }],
  }),
  schema('system-leader-election', 'leader-election', 100, 'ByUser', {
    subjects: [...users('system:kube-controller-manager', 'system:kube-scheduler'), ...systemAccounts('*')],
    resourceRules: [leases],
  }),
  schema('kube-controller-manager', 'workload-high', 800, 'ByNamespace', {
    subjects: users('system:kube-controller-manager'),
    ...everything,
  }),
  schema('kube-scheduler', 'workload-high', 800, 'ByNamespace', {
    subjects: users('system:kube-scheduler'),
    ...everything,
  }),
  schema('kube-system-service-accounts', 'workload-high', 900, 'ByNamespace', {
    subjects: systemAccounts('*'),
    ...everything,
  }),
  schema('service-accounts', 'workload-low', 9000, 'ByUser', {
    subjects: groups('system:serviceaccounts'),
    ...everything,
  }),
  schema('global-default', 'global-default', 9900, 'ByUser', { subjects: everybody, ...everything }),
]

export const suggestedPriorityLevels: readonly PriorityLevelConfiguration[] = [
  queued('system', 30, 33, 64, 6),
  queued('node-high', 40, 25, 64, 6),
  queued('leader-election', 10, 0, 16, 4),
  queued('workload-high', 40, 50, 128, 6),
  queued('workload-low', 100, 90, 128, 6),
  queued('global-default', 20, 50, 128, 6),
]
