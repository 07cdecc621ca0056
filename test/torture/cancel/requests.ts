/** The requests of a cancel storm: at least one of every kind that the server handles differently. */
import type { Random } from '../../fuzz/random.ts'
import { stormGroup } from './backend-answers.ts'
import { core, namespace } from './objects.ts'

export interface StormRequest {
  /** For reports. */
  readonly kind: string
  readonly method: string
  readonly path: string
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
  /** The protocol to upgrade the connection to. */
  readonly upgrade?: 'SPDY/3.1' | 'websocket'
  /** True if it does not end by itself. */
  readonly isLong?: boolean
  /** Sent by a user that only the webhooks know. */
  readonly asStranger?: boolean
  /** Expected statuses with calm backends. Default: any below 400. */
  readonly good?: readonly number[]
}

type Make = (random: Random) => StormRequest

const json = { 'content-type': 'application/json' }
const patch = (kind: string) => ({ 'content-type': `application/${kind}` })
const configMaps = `${core}/configmaps`
const widgets = (version: string): string => `/apis/shop.example.com/${version}/namespaces/${namespace}/widgets`
const apples = `/apis/${stormGroup}/v1/namespaces/${namespace}/apples`
const names = 20
const name = (random: Random): string => `c-${random.below(names)}`
const there = [200, 201, 202, 404, 409]

const configMap = (random: Random, wanted = name(random)): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: wanted },
    data: { text: 'x'.repeat(random.chance(0.1) ? 200_000 : 20), number: `${random.below(1000)}` },
  })

const widget = (version: string, wanted: string): string =>
  JSON.stringify({
    apiVersion: `shop.example.com/${version}`,
    kind: 'Widget',
    metadata: { name: wanted },
    spec: { size: 1 },
  })

const pod = (random: Random): string =>
  JSON.stringify({
    metadata: { generateName: 'p-' },
    spec: { nodeName: 'storm-node', containers: [{ name: 'c', image: `image-${random.below(1000)}` }] },
  })

const reads: readonly Make[] = [
  (random) => ({ kind: 'get', method: 'GET', path: `${configMaps}/${name(random)}`, good: there }),
  () => ({ kind: 'list', method: 'GET', path: configMaps }),
  () => ({ kind: 'list in pages', method: 'GET', path: `${configMaps}?limit=3` }),
  () => ({
    kind: 'table',
    method: 'GET',
    path: `${core}/pods`,
    headers: { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' },
  }),
  () => ({ kind: 'watch', method: 'GET', path: `${configMaps}?watch=1&timeoutSeconds=3`, isLong: true }),
  () => ({
    kind: 'watch list',
    method: 'GET',
    path: `${configMaps}?watch=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan`,
    isLong: true,
  }),
  (random) => ({
    kind: 'discovery',
    method: 'GET',
    path: random.pick(['/apis', '/api', '/api/v1', `/apis/${stormGroup}/v1`]),
  }),
  (random) => ({
    kind: 'openapi',
    method: 'GET',
    path: random.pick(['/openapi/v2', '/openapi/v3', '/openapi/v3/api/v1']),
  }),
  (random) => ({
    kind: 'health',
    method: 'GET',
    path: random.pick(['/readyz?verbose', '/livez', '/healthz', '/version']),
  }),
  () => ({ kind: 'metrics', method: 'GET', path: '/metrics' }),
]

const writes: readonly Make[] = [
  (random) => ({
    kind: 'create',
    method: 'POST',
    path: configMaps,
    body: configMap(random),
    headers: json,
    good: there,
  }),
  (random) => {
    const wanted = name(random)
    const path = `${configMaps}/${wanted}`
    return { kind: 'update', method: 'PUT', path, body: configMap(random, wanted), headers: json, good: there }
  },
  (random) => ({
    kind: 'patch',
    method: 'PATCH',
    path: `${configMaps}/${name(random)}`,
    body: '{"data":{"more":"y"}}',
    headers: patch(random.pick(['merge-patch+json', 'strategic-merge-patch+json'])),
    good: there,
  }),
  (random) => {
    const wanted = name(random)
    const path = `${configMaps}/${wanted}?fieldManager=storm&force=true`
    return { kind: 'apply', method: 'PATCH', path, body: configMap(random, wanted), headers: patch('apply-patch+yaml') }
  },
  (random) => ({ kind: 'delete', method: 'DELETE', path: `${configMaps}/${name(random)}`, good: there }),
  () => ({ kind: 'deletecollection', method: 'DELETE', path: `${configMaps}?labelSelector=none%3Dsuch` }),
  () => ({
    kind: 'delete pods',
    method: 'DELETE',
    path: `${core}/pods?fieldSelector=metadata.name!%3Dpod&gracePeriodSeconds=0`,
  }),
  (random) => ({ kind: 'create a pod', method: 'POST', path: `${core}/pods`, body: pod(random), headers: json }),
  (random) => ({ kind: 'dry run', method: 'POST', path: `${core}/pods?dryRun=All`, body: pod(random), headers: json }),
  () => ({
    kind: 'evict',
    method: 'POST',
    path: `${core}/pods/none/eviction`,
    body: JSON.stringify({ apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'none' } }),
    headers: json,
    good: there,
  }),
  () => ({
    kind: 'token',
    method: 'POST',
    path: `${core}/serviceaccounts/default/token`,
    body: '{"spec":{}}',
    headers: json,
  }),
]

const others: readonly Make[] = [
  (random) => ({ kind: 'list custom', method: 'GET', path: widgets(random.pick(['v1', 'v2', 'v3'])) }),
  (random) => ({
    kind: 'watch custom',
    method: 'GET',
    path: `${widgets(random.pick(['v2', 'v3']))}?watch=1&timeoutSeconds=3`,
    isLong: true,
  }),
  (random) => {
    const version = random.pick(['v1', 'v2', 'v3'])
    const body = widget(version, name(random))
    return { kind: 'create custom', method: 'POST', path: widgets(version), body, headers: json, good: there }
  },
  (random) => {
    const [version, wanted] = [random.pick(['v2', 'v3']), name(random)]
    const path = `${widgets(version)}/${wanted}?fieldManager=storm&force=true`
    return {
      kind: 'apply custom',
      method: 'PATCH',
      path,
      body: widget(version, wanted),
      headers: patch('apply-patch+yaml'),
    }
  },
  () => ({ kind: 'delete custom', method: 'DELETE', path: widgets('v3') }),
  () => ({ kind: 'aggregated get', method: 'GET', path: `${apples}/a` }),
  () => ({ kind: 'aggregated create', method: 'POST', path: apples, body: '{"kind":"Apple"}', headers: json }),
  () => ({ kind: 'aggregated watch', method: 'GET', path: `${apples}?watch=1`, isLong: true }),
  (random) => ({
    kind: 'token review',
    method: 'POST',
    path: '/apis/authentication.k8s.io/v1/tokenreviews',
    body: JSON.stringify({ spec: { token: `hook-${random.below(50)}` } }),
    headers: json,
  }),
  (random) => ({
    kind: 'access review',
    method: 'POST',
    path: '/apis/authorization.k8s.io/v1/subjectaccessreviews',
    body: JSON.stringify({
      spec: { user: `u-${random.below(50)}`, resourceAttributes: { verb: 'get', resource: 'pods' } },
    }),
    headers: json,
  }),
  () => ({
    kind: 'rules review',
    method: 'POST',
    path: '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews',
    body: JSON.stringify({ spec: { namespace } }),
    headers: json,
  }),
  (random) => ({
    kind: 'stranger reads',
    method: 'GET',
    path: `${configMaps}?limit=${1 + random.below(50)}`,
    asStranger: true,
  }),
  (random) => ({
    kind: 'impersonation',
    method: 'GET',
    path: `${configMaps}?limit=1`,
    headers: { 'impersonate-user': `somebody-${random.below(50)}` },
    good: [403],
  }),
]

const streams: readonly Make[] = [
  () => ({ kind: 'log', method: 'GET', path: `${core}/pods/pod/log` }),
  () => ({ kind: 'log followed', method: 'GET', path: `${core}/pods/pod/log?follow=true`, isLong: true }),
  () => ({
    kind: 'log over a WebSocket',
    method: 'GET',
    path: `${core}/pods/pod/log?follow=true`,
    upgrade: 'websocket',
    isLong: true,
  }),
  (random) => ({
    kind: 'exec',
    method: random.pick(['GET', 'POST']),
    path: `${core}/pods/pod/exec?command=true&stdout=1&stdin=1`,
    upgrade: random.pick(['SPDY/3.1', 'websocket']),
    isLong: true,
  }),
  () => ({
    kind: 'attach',
    method: 'POST',
    path: `${core}/pods/pod/attach?stdout=1`,
    upgrade: 'SPDY/3.1',
    isLong: true,
  }),
  (random) => ({
    kind: 'port-forward',
    method: 'GET',
    path: `${core}/pods/pod/portforward?ports=80`,
    upgrade: random.pick(['SPDY/3.1', 'websocket']),
    isLong: true,
  }),
  () => ({ kind: 'pod proxy', method: 'GET', path: `${core}/pods/https:pod:/proxy/page` }),
  () => ({
    kind: 'pod proxy, sent',
    method: 'POST',
    path: `${core}/pods/https:pod:/proxy/page`,
    body: 'z'.repeat(100_000),
  }),
  () => ({ kind: 'service proxy', method: 'GET', path: `${core}/services/https:backend:https/proxy/page` }),
  () => ({
    kind: 'service proxy, upgraded',
    method: 'GET',
    path: `${core}/services/https:backend:https/proxy/socket`,
    upgrade: 'websocket',
    isLong: true,
  }),
  () => ({ kind: 'node proxy', method: 'GET', path: '/api/v1/nodes/storm-node/proxy/pods' }),
]

const all = [...reads, ...writes, ...others, ...streams]

export const oneRequest = (random: Random): StormRequest => random.pick(all)(random)

/** One request of each kind. */
export const everyRequest = (random: Random): readonly StormRequest[] => all.map((make) => make(random))
