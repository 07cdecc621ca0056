/** Extenders over HTTP and HTTPS: each verb is a POST of JSON below one URL (kube-scheduler's extender API v1). */
import type { Pod } from '../../client/kinds.ts'
import type { Extender, ExtenderFilterResult, Victims } from '../framework/extender.ts'
import type { NodeInfo } from '../framework/node-info.ts'
import type { PodInfo } from '../framework/pods/pod-info.ts'
import { fieldsOf, list, nodeNames, reasons, record, texts, throwError } from './answers.ts'
import { post } from './post.ts'
import type { ExtenderSettings } from './settings.ts'

/** The extender has a function for each verb in its settings. */
export function httpExtender(settings: ExtenderSettings): Extender {
  const { urlPrefix, filterVerb, prioritizeVerb, preemptVerb, bindVerb, managedResources = [] } = settings
  const managed = new Set(managedResources.map(({ name }) => name))
  return {
    name: urlPrefix,
    ignorable: settings.ignorable ?? false,
    weight: settings.weight ?? 1,
    isInterested: ({ pod }) => managed.size === 0 || requestsAny(pod, managed),
    filter: filterVerb ? (pod, nodes) => filter(settings, filterVerb, pod, nodes) : undefined,
    prioritize: prioritizeVerb ? (pod, nodes) => prioritize(settings, prioritizeVerb, pod, nodes) : undefined,
    preempt: preemptVerb ? (pod, victims) => preempt(settings, preemptVerb, pod, victims) : undefined,
    bind: bindVerb ? (pod, node) => bind(settings, bindVerb, pod, node) : undefined,
  }
}

function requestsAny({ spec }: Pod, managed: ReadonlySet<string>): boolean {
  const containers = [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])]
  return containers.some(({ resources }) =>
    [resources?.requests, resources?.limits].some((amounts) =>
      Object.keys(amounts ?? {}).some((name) => managed.has(name)),
    ),
  )
}

async function filter(
  settings: ExtenderSettings,
  verb: string,
  { pod }: PodInfo,
  nodes: readonly NodeInfo[],
): Promise<ExtenderFilterResult> {
  const answer = fieldsOf(await post(settings, verb, { Pod: pod, ...nodesArgument(settings, nodes) }))
  throwError(answer)
  const hasNames = settings.nodeCacheCapable && answer('nodeNames')
  const names = hasNames ? texts(answer('nodeNames')) : nodeNames(answer('nodes'))
  const byName = new Map(nodes.map((node) => [node.name, node]))
  const feasible = names.map((name) => {
    const node = byName.get(name)
    if (!node)
      throw new Error(
        `extender ${JSON.stringify(settings.urlPrefix)} claims a filtered node ${JSON.stringify(name)} which is ` +
          'not found in the input node list',
      )
    return node
  })
  return {
    feasible,
    failed: reasons(answer('failedNodes')),
    unresolvable: reasons(answer('failedAndUnresolvableNodes')),
  }
}

async function prioritize(
  settings: ExtenderSettings,
  verb: string,
  { pod }: PodInfo,
  nodes: readonly NodeInfo[],
): Promise<ReadonlyMap<string, number>> {
  const scores = await post(settings, verb, { Pod: pod, ...nodesArgument(settings, nodes) })
  return new Map(
    list(scores)
      .map(fieldsOf)
      .map((field) => [String(field('host')), Number(field('score') ?? 0)]),
  )
}

async function preempt(
  settings: ExtenderSettings,
  verb: string,
  { pod }: PodInfo,
  victims: ReadonlyMap<string, Victims>,
): Promise<ReadonlyMap<string, Victims>> {
  const answer = await post(settings, verb, { Pod: pod, ...victimsArgument(settings, victims) })
  return victimsOf(settings.urlPrefix, answer, victims)
}

async function bind(
  settings: ExtenderSettings,
  verb: string,
  { name, namespace, pod }: PodInfo,
  node: string,
): Promise<void> {
  const body = { PodName: name, PodNamespace: namespace, PodUID: pod.metadata.uid, Node: node }
  throwError(fieldsOf(await post(settings, verb, body)))
}

const nodesArgument = ({ nodeCacheCapable = false }: ExtenderSettings, nodes: readonly NodeInfo[]): object =>
  nodeCacheCapable
    ? { Nodes: null, NodeNames: nodes.map(({ name }) => name) }
    : {
        Nodes: { apiVersion: 'v1', kind: 'NodeList', metadata: {}, items: nodes.map(({ node }) => node) },
        NodeNames: null,
      }

function victimsArgument(
  { nodeCacheCapable = false }: ExtenderSettings,
  victims: ReadonlyMap<string, Victims>,
): object {
  const entries = (show: (pod: PodInfo) => object): object =>
    Object.fromEntries(
      [...victims].map(([node, { pods, violations }]) => [
        node,
        { Pods: pods.map(show), NumPDBViolations: violations },
      ]),
    )
  return nodeCacheCapable
    ? { NodeNameToVictims: null, NodeNameToMetaVictims: entries(({ pod }) => ({ UID: pod.metadata.uid })) }
    : { NodeNameToVictims: entries(({ pod }) => pod), NodeNameToMetaVictims: null }
}

/** Answers name victims by uid only. */
function victimsOf(
  extender: string,
  answer: unknown,
  known: ReadonlyMap<string, Victims>,
): ReadonlyMap<string, Victims> {
  const chosen = fieldsOf(answer)('nodeNameToMetaVictims')
  const all = new Map([...known.values()].flatMap(({ pods }) => pods.map((pod) => [pod.uid, pod])))
  return new Map(
    Object.entries(record(chosen)).map(([node, meta]): [string, Victims] => {
      const field = fieldsOf(meta)
      const pods = list(field('pods')).map((victim) => {
        const uid = String(fieldsOf(victim)('uid'))
        const pod = all.get(uid)
        if (!pod)
          throw new Error(
            `extender: ${extender} claims to preempt pod (UID: ${uid}) on node: ${node}, but the pod is not ` +
              'found on that node',
          )
        return pod
      })
      return [node, { pods, violations: Number(field('numPDBViolations') ?? 0) }]
    }),
  )
}
