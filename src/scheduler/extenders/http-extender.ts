/** Extenders over HTTP and HTTPS: each verb is a POST of JSON below one URL (kube-scheduler's extender API v1). */

import { request as plainRequest } from 'node:http'
import { request as secureRequest } from 'node:https'
import type { Pod } from '../../client/kinds.ts'
import { parseJson, writeJson } from '../../lib/exact-json.ts'
import { own } from '../../lib/own.ts'
import { refuseUpgrade } from '../../lib/refuse-upgrade.ts'
import type { Extender, Victims } from '../framework/extender.ts'
import type { NodeInfo } from '../framework/node-info.ts'
import type { PodInfo } from '../framework/pods/pod-info.ts'

/** The configuration of an extender, with the contents of certificate files. */
export interface ExtenderSettings {
  readonly urlPrefix: string
  readonly filterVerb?: string
  readonly prioritizeVerb?: string
  readonly preemptVerb?: string
  readonly bindVerb?: string
  readonly weight?: number
  readonly enableHTTPS?: boolean
  readonly tls?: {
    readonly ca?: string
    readonly cert?: string
    readonly key?: string
    readonly serverName?: string
    readonly insecure?: boolean
  }
  readonly timeoutMs: number
  /** The extender knows the nodes itself, so only names are sent. */
  readonly nodeCacheCapable?: boolean
  readonly managedResources?: readonly { readonly name: string; readonly ignoredByScheduler?: boolean }[]
  readonly ignorable?: boolean
}

/** Larger answers are rejected. In bytes. */
const maxAnswerBytes = 64 * 1024 * 1024

export function httpExtender(settings: ExtenderSettings): Extender {
  const {
    urlPrefix,
    filterVerb,
    prioritizeVerb,
    preemptVerb,
    bindVerb,
    nodeCacheCapable = false,
    managedResources = [],
  } = settings
  const managed = new Set(managedResources.map(({ name }) => name))
  const call = (verb: string, body: object): Promise<unknown> => post(settings, verb, body)
  const nodesArgument = (nodes: readonly NodeInfo[]): object =>
    nodeCacheCapable
      ? { Nodes: null, NodeNames: nodes.map(({ name }) => name) }
      : {
          Nodes: { apiVersion: 'v1', kind: 'NodeList', metadata: {}, items: nodes.map(({ node }) => node) },
          NodeNames: null,
        }

  return {
    name: urlPrefix,
    ignorable: settings.ignorable ?? false,
    weight: settings.weight ?? 1,
    isInterested: ({ pod }) => managed.size === 0 || requestsAny(pod, managed),
    filter: filterVerb
      ? async (pod, nodes) => {
          const answer = fieldsOf(await call(filterVerb, { Pod: pod.pod, ...nodesArgument(nodes) }))
          const error = answer('error')
          if (typeof error === 'string' && error) throw new Error(error)
          const byName = new Map(nodes.map((node) => [node.name, node]))
          const names =
            nodeCacheCapable && answer('nodeNames') ? texts(answer('nodeNames')) : nodeNames(answer('nodes'))
          const feasible = names.map((name) => {
            const node = byName.get(name)
            if (!node)
              throw new Error(
                `extender ${JSON.stringify(urlPrefix)} claims a filtered node ${JSON.stringify(name)} which is ` +
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
      : undefined,
    prioritize: prioritizeVerb
      ? async (pod, nodes) => {
          const scores = await call(prioritizeVerb, { Pod: pod.pod, ...nodesArgument(nodes) })
          return new Map(
            list(scores)
              .map(fieldsOf)
              .map((field) => [String(field('host')), Number(field('score') ?? 0)]),
          )
        }
      : undefined,
    preempt: preemptVerb
      ? async (pod, victims) =>
          victimsOf(
            urlPrefix,
            await call(preemptVerb, { Pod: pod.pod, ...victimsArgument(victims, nodeCacheCapable) }),
            victims,
          )
      : undefined,
    bind: bindVerb
      ? async ({ name, namespace, pod }, node) => {
          const answer = fieldsOf(
            await call(bindVerb, { PodName: name, PodNamespace: namespace, PodUID: pod.metadata.uid, Node: node }),
          )
          const error = answer('error')
          if (typeof error === 'string' && error) throw new Error(error)
        }
      : undefined,
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

function victimsArgument(victims: ReadonlyMap<string, Victims>, namesOnly: boolean): object {
  const entries = (show: (pod: PodInfo) => object): object =>
    Object.fromEntries(
      [...victims].map(([node, { pods, violations }]) => [
        node,
        { Pods: pods.map(show), NumPDBViolations: violations },
      ]),
    )
  return namesOnly
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

const record = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
const texts = (value: unknown): string[] => list(value).map(String)
const nodeNames = (value: unknown): string[] =>
  list(fieldsOf(value)('items')).map((node) => String(fieldsOf(fieldsOf(node)('metadata'))('name')))
const reasons = (value: unknown): Record<string, string> =>
  Object.fromEntries(Object.entries(record(value)).map(([node, reason]) => [node, String(reason)]))

/** Reads fields without regard to case, as Go does: extenders write `nodeNames` and `NodeNames`. */
function fieldsOf(value: unknown): (name: string) => unknown {
  const given = record(value)
  return (name) => {
    const exact = own(given, name)
    if (exact !== undefined) return exact
    const key = Object.keys(given).find((one) => one.toLowerCase() === name.toLowerCase())
    return key === undefined ? undefined : own(given, key)
  }
}

/** Resolves with the JSON of the answer; rejects with an Error that names the URL. */
function post(
  { urlPrefix, timeoutMs, enableHTTPS, tls = {} }: ExtenderSettings,
  verb: string,
  body: object,
): Promise<unknown> {
  const target = `${urlPrefix.replace(/\/+$/, '')}/${verb}`
  const url = new URL(target)
  const payload = writeJson(body)
  const isSecure = url.protocol === 'https:' || enableHTTPS
  if (isSecure) url.protocol = 'https:'
  const { promise, resolve, reject } = Promise.withResolvers<unknown>()
  const fail = (error: Error): void =>
    reject(new Error(`extender at URL ${target}: ${error.message}`, { cause: error }))
  const options = {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(payload) },
    signal: AbortSignal.timeout(timeoutMs),
  }
  const secured = {
    ca: tls.ca,
    cert: tls.cert,
    key: tls.key,
    servername: tls.serverName,
    rejectUnauthorized: !tls.insecure,
  }
  const sent = isSecure ? secureRequest(url, { ...options, ...secured }) : plainRequest(url, options)
  refuseUpgrade(sent).on('error', fail)
  sent.on('response', (response) => {
    const pieces: Buffer[] = []
    let size = 0
    response.on('data', (piece: Buffer) => {
      pieces.push(piece)
      if ((size += piece.length) > maxAnswerBytes) sent.destroy(new Error('the answer is longer than 64 MiB'))
    })
    response.on('error', fail)
    response.on('end', () => {
      if (response.statusCode !== 200)
        return reject(new Error(`failed ${verb} with extender at URL ${target}, code ${response.statusCode}`))
      try {
        resolve(parseJson(Buffer.concat(pieces).toString() || 'null'))
      } catch (error) {
        fail(error as Error)
      }
    })
  })
  sent.end(payload)
  return promise
}
