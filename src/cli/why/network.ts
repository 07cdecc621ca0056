/** Reads the facts for `t8s why network`: two pods, the policies that may be about them, and labels. */
import type { Namespace, NetworkPolicy, Pod } from '../../client/kinds.ts'
import { namespaces, networkPolicies, pods } from '../../client/kinds.ts'
import { collectionPath, objectPath } from '../../client/resource.ts'
import { ExplainedError } from '../../lib/explained-error.ts'
import { messageOf } from '../../lib/message-of.ts'
import type { AskedConnection } from '../../network/policy/explain/rule-misses.ts'
import { adminPolicyOf } from '../../network/policy/picture/admin/admin-policy.ts'
import { type AdminPolicyObject, adminPolicyKinds } from '../../network/policy/picture/admin/kinds.ts'
import { PolicyObjects, type PolicyPod } from '../../network/policy/picture/policy-objects.ts'
import type { WhyServer } from './server.ts'

export interface NetworkQuestion {
  /** `POD` or `NAMESPACE/POD`. */
  readonly from: string
  /** The same with a port: `db:5432`, `shop/db:sql`, `shop/dns:53/udp`. */
  readonly to: string
  /** Of names without one. */
  readonly namespace: string
}

export interface NetworkFacts {
  readonly objects: PolicyObjects
  readonly asked: AskedConnection
  /** Reasons why kinds of policies could not be read. */
  readonly unread: readonly string[]
}

interface PodName {
  readonly namespace: string
  readonly name: string
}

/** Throws an ExplainedError for pods that do not exist, or have no network of their own. */
export async function networkFacts(server: WhyServer, { from, to, namespace }: NetworkQuestion): Promise<NetworkFacts> {
  const [, target = '', port = '', transport = 'tcp'] = /^(.+):([^:/]+)(?:\/(tcp|udp|sctp))?$/i.exec(to) ?? []
  if (target === '')
    throw new ExplainedError(
      `${JSON.stringify(to)} has no port: write the destination like shop/db:5432, or dns:53/udp`,
    )
  const names = [podName(from, namespace), podName(target, namespace)] as const
  const objects = new PolicyObjects()
  const spaces = [...new Set(names.map((name) => name.namespace))]
  const [unread] = await Promise.all([
    addAdminPolicies(server, objects),
    ...names.map((name) => addPod(server, objects, name)),
    ...spaces.map((space) => addNamespace(server, objects, space)),
  ])
  const [source, destination] = names.map(({ namespace: space, name }) => podIn(objects, space, name)) as [
    PolicyPod,
    PolicyPod,
  ]
  const protocol = transport.toUpperCase()
  const number = /^\d+$/.test(port) ? Number(port) : destination.ports.find((one) => one.name === port)?.port
  if (number === undefined)
    throw new ExplainedError(
      `the pod ${destination.namespace}/${destination.name} has no port ${port}: give its number`,
    )
  return { objects, unread, asked: { from: source, to: destination, port: number, protocol } }
}

function podName(text: string, namespace: string): PodName {
  const [name = '', own = namespace] = text.split('/').reverse()
  return { namespace: own, name }
}

async function addPod(server: WhyServer, objects: PolicyObjects, { namespace, name }: PodName): Promise<void> {
  const pod = await server.get<Pod>(objectPath(pods, namespace, name))
  if (!pod) throw new ExplainedError(`there is no pod ${name} in the namespace ${namespace}`)
  if (pod.spec?.hostNetwork)
    throw new ExplainedError(
      `the pod ${namespace}/${name} is in the network of its node, which policies do not isolate`,
    )
  objects.setPod(pod, undefined)
}

async function addNamespace(server: WhyServer, objects: PolicyObjects, name: string): Promise<void> {
  const [namespace, policies] = await Promise.all([
    server.get<Namespace>(objectPath(namespaces, '', name)),
    server.all<NetworkPolicy>(collectionPath(networkPolicies, name)),
  ])
  if (namespace) objects.setNamespace(namespace, undefined)
  for (const policy of policies) objects.setPolicy(policy, undefined)
}

/** Their kinds need not be installed. Returns the reasons why some cannot be read, for users with few rights. */
async function addAdminPolicies(server: WhyServer, objects: PolicyObjects): Promise<string[]> {
  const unread: string[] = []
  for (const kind of adminPolicyKinds)
    try {
      const found = await server.get<{ readonly items?: readonly AdminPolicyObject[] | null }>(collectionPath(kind))
      for (const object of found?.items ?? []) {
        const policy = adminPolicyOf(kind, object)
        objects.setAdminPolicy(policy.title, policy)
      }
    } catch (error) {
      unread.push(`${kind.plural} are not considered: ${messageOf(error)}`)
    }
  return unread
}

function podIn(objects: PolicyObjects, namespace: string, name: string): PolicyPod {
  for (const pod of objects.pods) if (pod.namespace === namespace && pod.name === name) return pod
  throw new ExplainedError(`the pod ${namespace}/${name} has ended, so that policies do not concern it`)
}
