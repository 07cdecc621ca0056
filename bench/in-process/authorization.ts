/**
 * `npm run bench -- --authorization`: the cost of an RBAC decision with 1,000 roles and 5,000 bindings, without
 * connection and filters; and of the first one after a change, which recompiles the user's rules.
 */
import { allResources } from '../../src/api/registry.ts'
import { resourceKey } from '../../src/api/resource.ts'
import { type Authorizer, unionAuthorizer } from '../../src/apiserver/authorization/authorizer.ts'
import { systemMasters } from '../../src/apiserver/authorization/fixed-authorizers.ts'
import { RolePolicy, rbacAuthorizer } from '../../src/apiserver/authorization/rbac/index.ts'
import { Registry } from '../../src/apiserver/registry/registry.ts'
import type { UserInfo } from '../../src/apiserver/request-info/user-info.ts'
import type { KubeObject } from '../../src/machinery/object.ts'
import { memoryStore } from '../../src/storage/memory/index.ts'

const roleCount = 1000
const bindingCount = 5000
const namespaces = 50
const users = 500
const decisions = 200_000
const targetMicroseconds = 20

const group = 'rbac.authorization.k8s.io'
const verbs = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete']
const resources = [
  'pods',
  'services',
  'configmaps',
  'secrets',
  'deployments',
  'jobs',
  'widgets',
  'pods/log',
  'deployments/scale',
]

export async function benchAuthorization(): Promise<void> {
  const store = memoryStore()
  const registry = new Registry(store, allResources, console.error)
  const find = (key: string) => registry.served(allResources.find((definition) => resourceKey(definition) === key)!)
  const put = async (plural: string, object: KubeObject): Promise<void> => {
    const resource = find(`${group}/v1/${plural}`)
    const key = resource.key(object.metadata.namespace ?? '', object.metadata.name!)
    await registry.commits.put(resource, key, object, undefined)
  }
  const roles = new RolePolicy({ registry, find, log: console.error })
  await roles.start()
  for (let i = 0; i < roleCount; i++) await put(i % 2 ? 'roles' : 'clusterroles', role(i))
  for (let i = 0; i < bindingCount; i++) await put(isLocal(i) ? 'rolebindings' : 'clusterrolebindings', binding(i))
  const authorizer = unionAuthorizer([systemMasters, rbacAuthorizer(roles)])
  measureDecisions(authorizer)
  // From here on the rules of all users contain this role.
  await put('clusterrolebindings', bindingOfAll())
  const started = process.cpuUsage()
  isAllowed(authorizer, 1)
  console.log(`the first decision after a change of a group's bindings: ${microseconds(started).toFixed(0)} µs CPU`)
  roles.stop()
  registry.stop()
  await store.close()
}

function measureDecisions(authorizer: Authorizer): void {
  // Warms up.
  for (let round = 0; round < decisions; round++) isAllowed(authorizer, round)
  const started = process.cpuUsage()
  let allowed = 0
  for (let round = 0; round < decisions; round++) if (isAllowed(authorizer, round)) allowed++
  const each = microseconds(started) / decisions
  const verdict = each <= targetMicroseconds ? '' : ': MISSED'
  console.log(
    `${roleCount} roles, ${bindingCount} bindings, ${users} users: ${each.toFixed(2)} µs CPU per decision, target ` +
      `≤ ${targetMicroseconds} µs${verdict}`,
  )
  console.log(`${Math.round((allowed / decisions) * 100)} % of them were allowed`)
}

/** Decides about a request that depends on `round`. */
function isAllowed(authorizer: Authorizer, round: number): boolean {
  const user: UserInfo = {
    name: `user-${round % users}`,
    groups: [`group-${round % 97}`, `group-${round % 89}`, 'system:authenticated'],
  }
  const [resource = '', subresource = ''] = resources[round % resources.length]!.split('/')
  const info = {
    prefix: 'api',
    version: 'v1',
    path: '',
    rest: [],
    name: `object-${round % 3}`,
    namespace: `namespace-${round % namespaces}`,
    isResourceRequest: true,
    verb: verbs[round % verbs.length]!,
    group: round % 3 ? '' : 'apps',
    resource,
    subresource,
  }
  const decision = authorizer.authorize({ user, info })
  if (decision instanceof Promise) throw new Error('a decision of RBAC must not wait')
  return decision.verdict === 'allow'
}

const microseconds = (from: NodeJS.CpuUsage): number => {
  const { user, system } = process.cpuUsage(from)
  return user + system
}

const isLocal = (i: number): boolean => i % 4 !== 0
const namespaceOf = (i: number): string => `namespace-${i % namespaces}`

function role(i: number): KubeObject {
  const rules = Array.from({ length: 5 }, (_, at) => ({
    apiGroups: [at % 2 ? 'apps' : ''],
    resources: [resources[(i + at) % resources.length], resources[(i + at * 3) % resources.length]],
    verbs: verbs.slice(0, 1 + ((i + at) % verbs.length)),
    ...(at === 4 && { resourceNames: ['object-1'] }),
  }))
  const metadata = i % 2 ? { name: `role-${i}`, namespace: namespaceOf(i) } : { name: `role-${i}` }
  return { apiVersion: `${group}/v1`, kind: i % 2 ? 'Role' : 'ClusterRole', metadata, rules } as KubeObject
}

function binding(i: number): KubeObject {
  const local = isLocal(i)
  // A Role of the same namespace, or a ClusterRole.
  const number = i % roleCount
  const kind = local && number % 2 === 1 ? 'Role' : 'ClusterRole'
  const name = `role-${kind === 'Role' ? number : number - (number % 2)}`
  const subjects = [
    { kind: 'User', apiGroup: group, name: `user-${i % users}` },
    ...(i % 5 === 0 ? [{ kind: 'Group', apiGroup: group, name: `group-${i % 97}` }] : []),
  ]
  const metadata = local ? { name: `binding-${i}`, namespace: namespaceOf(i) } : { name: `binding-${i}` }
  return {
    apiVersion: `${group}/v1`,
    kind: local ? 'RoleBinding' : 'ClusterRoleBinding',
    metadata,
    roleRef: { apiGroup: group, kind, name },
    subjects,
  } as KubeObject
}

/** Binds the role of `binding(0)` to all users. */
const bindingOfAll = (): KubeObject =>
  ({
    ...binding(0),
    metadata: { name: 'all' },
    subjects: [{ kind: 'Group', apiGroup: group, name: 'system:authenticated' }],
  }) as KubeObject
