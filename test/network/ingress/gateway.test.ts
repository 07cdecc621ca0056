/** The Gateway API by the proxy of a cluster. Needs root for an address of backends. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { type TestContext, test } from 'node:test'
import { credentials, Client as GrpcClient } from '@grpc/grpc-js'
import { namespaces, secrets } from '../../../src/client/index.ts'
import { issueCertificate, makeAuthority } from '../../../src/lib/x509/certificates.ts'
import {
  type Condition,
  type Gateway,
  type GrpcRoute,
  gatewayClasses,
  gatewayGroup,
  gateways,
  grpcRoutes,
  type HttpRoute,
  type HttpRule,
  httpRoutes,
  referenceGrants,
} from '../../../src/network/ingress/picture/gateway/kinds.ts'
import { inNamespaces } from '../../kubelet/support/in-namespaces.ts'
import { waitFor } from '../../support/wait-for.ts'
import { gatewayDefinitions } from './gateway-definitions.ts'
import { bytes, grpcEcho } from './grpc-echo.ts'
import { backendAddress, IngressLab } from './ingress-lab.ts'

const apiVersion = `${gatewayGroup}/v1`
/** The last request of a backend, and the number of requests of each. */
let received: IncomingMessage | undefined
const mirrored = new Map<string, number>()

const gateway = (name: string, listeners: Gateway['spec']['listeners']): Gateway => ({
  apiVersion,
  kind: 'Gateway',
  metadata: { namespace: 'default', name },
  spec: { gatewayClassName: 't8s', listeners },
})

const route = (name: string, host: string, rules: readonly HttpRule[], parent = 'web'): HttpRoute => ({
  apiVersion,
  kind: 'HTTPRoute',
  metadata: { namespace: 'default', name },
  spec: { parentRefs: [{ name: parent }], hostnames: [host], rules },
})

const to = (name: string, weight?: number) => ({ name, port: 80, ...(weight !== undefined && { weight }) })

/** `Accepted=True/Accepted`. */
const shown = (found: readonly Condition[] = []): string[] =>
  found.map(({ type, status, reason }) => `${type}=${status}/${reason}`)

/** Resolves when a route has these conditions for its first parent. */
const routeHas = (lab: IngressLab, name: string, expected: readonly string[]): Promise<unknown> =>
  waitFor(`conditions ${expected.join(' ')} of ${name}`, async () => {
    const { status } = await lab.client.get(httpRoutes, 'default', name)
    return shown(status?.parents?.[0]?.conditions).join() === expected.join()
  })

const accepted = ['Accepted=True/Accepted', 'ResolvedRefs=True/ResolvedRefs']

async function install(_t: TestContext, lab: IngressLab): Promise<void> {
  assert(!lab.log.some((line) => line.includes('gateway')), 'nothing fails without definitions')
  for (const definition of gatewayDefinitions)
    await lab.cluster.call('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition)
  const found = await waitFor('the class', async () => {
    const one = await lab.client.find(gatewayClasses, '', 't8s').catch(() => undefined)
    return one?.status?.conditions?.length ? one : undefined
  })
  assert.deepEqual(shown(found.status?.conditions), ['Accepted=True/Accepted'])
}

async function conditions(_t: TestContext, lab: IngressLab): Promise<void> {
  await lab.client.create(
    gateways,
    gateway('web', [
      { name: 'http', port: 80, protocol: 'HTTP', hostname: '*.gw.example.com' },
      { name: 'raw', port: 81, protocol: 'TCP' },
    ]),
  )
  await lab.client.create(httpRoutes, route('basic', 'a.gw.example.com', [{ backendRefs: [to('one')] }]))
  assert.equal((await lab.eventually(200, 'http://a.gw.example.com/x')).body, 'one /x')
  assert.equal((await lab.curl('http://b.gw.example.com/x')).status, 404)
  await routeHas(lab, 'basic', accepted)
  const { status, metadata } = await waitFor('attached routes', async () => {
    const one = await lab.client.get(gateways, 'default', 'web')
    return one.status?.listeners?.[0]?.attachedRoutes === 1 && one
  })
  assert.deepEqual(shown(status?.conditions), ['Accepted=True/ListenersNotValid', 'Programmed=True/Programmed'])
  assert.equal(status?.conditions?.[0]?.observedGeneration, metadata.generation)
  assert.deepEqual(status?.addresses, [{ type: 'IPAddress', value: '127.0.0.1' }])
  assert.deepEqual(shown(status?.listeners?.[0]?.conditions), [
    'Accepted=True/Accepted',
    'Conflicted=False/NoConflicts',
    'ResolvedRefs=True/ResolvedRefs',
    'Programmed=True/Programmed',
  ])
  assert.match(shown(status?.listeners?.[1]?.conditions)[0] ?? '', /Accepted=False\/UnsupportedProtocol/)
  await lab.client.create(httpRoutes, route('elsewhere', 'other.com', [{ backendRefs: [to('one')] }]))
  await routeHas(lab, 'elsewhere', ['Accepted=False/NoMatchingListenerHostname', accepted[1]!])
  await lab.client.create(httpRoutes, route('missing', 'missing.gw.example.com', [{ backendRefs: [to('nobody')] }]))
  await routeHas(lab, 'missing', [accepted[0]!, 'ResolvedRefs=False/BackendNotFound'])
  assert.equal((await lab.curl('http://missing.gw.example.com/')).status, 500)
  await lab.service('nobody', [])
  await routeHas(lab, 'missing', accepted)
  assert.equal((await lab.eventually(503, 'http://missing.gw.example.com/')).status, 503)
  await lab.client.create(
    httpRoutes,
    route('unsupported', 'u.gw.example.com', [{ filters: [{ type: 'ExtensionRef' }], backendRefs: [to('one')] }]),
  )
  await routeHas(lab, 'unsupported', ['Accepted=False/UnsupportedValue', accepted[1]!])
}

async function matches(_t: TestContext, lab: IngressLab): Promise<void> {
  const exact = { path: { type: 'Exact', value: '/exact' } }
  const rules: HttpRule[] = [
    { matches: [{ headers: [{ name: 'X-Version', value: '2' }] }], backendRefs: [to('two')] },
    { matches: [{ queryParams: [{ name: 'v', value: '3' }], method: 'POST' }], backendRefs: [to('three')] },
    { matches: [exact, { path: { type: 'RegularExpression', value: '/r[0-9]+' } }], backendRefs: [to('three')] },
    { matches: [{ path: { type: 'PathPrefix', value: '/' } }], backendRefs: [to('one')] },
  ]
  await lab.client.create(httpRoutes, route('matches', 'm.gw.example.com', rules))
  await lab.eventually(200, 'http://m.gw.example.com/')
  const table: readonly (readonly [backend: string, target: string, ...flags: string[]])[] = [
    ['one', '/'],
    ['two', '/', '-H', 'x-version: 2'],
    ['one', '/', '-H', 'x-version: 22'],
    ['three', '/?a=1&v=3', '-X', 'POST'],
    ['one', '/?a=1&v=3'],
    ['three', '/exact', '-H', 'x-version: 2'],
    ['three', '/r42'],
    ['one', '/r42x'],
  ]
  for (const [backend, target, ...flags] of table) {
    const { body } = await lab.curl(`http://m.gw.example.com${target}`, ...flags)
    assert.equal(body, `${backend} ${target}`, `${target} ${flags.join(' ')}`)
  }
}

async function filters(_t: TestContext, lab: IngressLab): Promise<void> {
  const path = (value: string) => [{ path: { type: 'PathPrefix', value } }]
  const modifier = { set: [{ name: 'X-Set', value: 's' }], add: [{ name: 'X-Add', value: 'b' }], remove: ['X-Gone'] }
  const rules: HttpRule[] = [
    {
      matches: path('/headers'),
      filters: [
        { type: 'RequestHeaderModifier', requestHeaderModifier: modifier },
        { type: 'ResponseHeaderModifier', responseHeaderModifier: { remove: ['x-backend'], set: modifier.set } },
      ],
      backendRefs: [to('one')],
    },
    {
      matches: path('/rewrite'),
      filters: [
        {
          type: 'URLRewrite',
          urlRewrite: { hostname: 'inner', path: { type: 'ReplacePrefixMatch', replacePrefixMatch: '/new' } },
        },
      ],
      backendRefs: [to('one')],
    },
    {
      matches: path('/old'),
      filters: [
        {
          type: 'RequestRedirect',
          requestRedirect: {
            scheme: 'https',
            statusCode: 301,
            path: { type: 'ReplacePrefixMatch', replacePrefixMatch: '/n' },
          },
        },
      ],
    },
    { matches: path('/slow'), timeouts: { request: '100ms' }, backendRefs: [to('slow')] },
  ]
  await lab.service('slow', [await lab.listen(createServer(() => {}))])
  await lab.client.create(httpRoutes, route('filters', 'f.gw.example.com', rules))
  const url = 'http://f.gw.example.com'
  await lab.eventually(200, `${url}/headers`)
  const { text } = await lab.curl(`${url}/headers`, '-H', 'x-gone: 1', '-H', 'x-add: a', '-H', 'x-set: old')
  assert.deepEqual(
    ['x-set', 'x-add', 'x-gone'].map((name) => received?.headers[name]),
    ['s', 'a, b', undefined],
  )
  assert.match(text, /x-set: s\r\n/)
  assert.doesNotMatch(text, /x-backend/)
  assert.equal((await lab.curl(`${url}/rewrite/a?b`)).body, 'one /new/a?b')
  assert.equal(received?.headers.host, 'inner')
  const redirected = await lab.curl(`${url}/old/a?b`)
  assert.equal(redirected.status, 301)
  assert.match(redirected.text, /location: https:\/\/f\.gw\.example\.com\/n\/a\?b\r\n/)
  const { status, body } = await lab.curl(`${url}/slow`)
  assert.equal(status, 504)
  assert.match(body, /^Service default\/slow:80 did not respond within 0\.1 s: check its pods/)
}

async function weights(_t: TestContext, lab: IngressLab): Promise<void> {
  const mirror = { type: 'RequestMirror', requestMirror: { backendRef: to('three') } }
  await lab.client.create(
    httpRoutes,
    route('weights', 'w.gw.example.com', [
      { matches: [{ path: { value: '/mirror' } }], filters: [mirror], backendRefs: [to('one')] },
      { backendRefs: [to('one', 3), to('two', 1), to('absent', 1), to('three', 0)] },
    ]),
  )
  await routeHas(lab, 'weights', [accepted[0]!, 'ResolvedRefs=False/BackendNotFound'])
  await lab.eventually(200, 'http://w.gw.example.com/')
  const statuses = new Map<string, number>()
  for (let i = 0; i < 10; i++) {
    const { status, body } = await lab.curl('http://w.gw.example.com/')
    const key = status === 200 ? body.split(' ')[0]! : String(status)
    statuses.set(key, (statuses.get(key) ?? 0) + 1)
  }
  assert.deepEqual(Object.fromEntries(statuses), { one: 6, two: 2, 500: 2 })
  const before = mirrored.get('three') ?? 0
  assert.equal((await lab.curl('http://w.gw.example.com/mirror', '-d', 'x'.repeat(100_000))).body, 'one /mirror')
  await waitFor('the mirrored request', () => mirrored.get('three') === before + 1)
}

async function grants(_t: TestContext, lab: IngressLab): Promise<void> {
  await lab.client.create(namespaces, {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'other', labels: { team: 'a' } },
  })
  const foreign = {
    ...route('foreign', 'x.gw.example.com', [{ backendRefs: [{ ...to('one'), namespace: 'default' }] }]),
  }
  foreign.metadata = { namespace: 'other', name: 'foreign' }
  await lab.client.create(httpRoutes, {
    ...foreign,
    spec: { ...foreign.spec, parentRefs: [{ name: 'web', namespace: 'default' }] },
  })
  const has = (expected: string): Promise<unknown> =>
    waitFor(expected, async () => {
      const { status } = await lab.client.get(httpRoutes, 'other', 'foreign')
      return shown(status?.parents?.[0]?.conditions).join() === expected
    })
  await has('Accepted=False/NotAllowedByListeners,ResolvedRefs=False/RefNotPermitted')
  const current = await lab.client.get(gateways, 'default', 'web')
  const [http, raw] = current.spec.listeners!
  const allowed = { namespaces: { from: 'Selector', selector: { matchLabels: { team: 'a' } } } }
  await lab.client.update(gateways, {
    ...current,
    spec: { ...current.spec, listeners: [{ ...http!, allowedRoutes: allowed }, raw!] },
  })
  await has('Accepted=True/Accepted,ResolvedRefs=False/RefNotPermitted')
  await lab.eventually(500, 'http://x.gw.example.com/')
  await lab.client.create(referenceGrants, {
    apiVersion: `${gatewayGroup}/v1beta1`,
    kind: 'ReferenceGrant',
    metadata: { namespace: 'default', name: 'other' },
    spec: {
      from: [{ group: gatewayGroup, kind: 'HTTPRoute', namespace: 'other' }],
      to: [{ group: '', kind: 'Service' }],
    },
  })
  await has('Accepted=True/Accepted,ResolvedRefs=True/ResolvedRefs')
  assert.equal((await lab.eventually(200, 'http://x.gw.example.com/')).body, 'one /')
}

async function secure(_t: TestContext, lab: IngressLab): Promise<void> {
  const authority = await makeAuthority('test', new Date())
  const pair = await issueCertificate(
    authority,
    { commonName: 'gw', usage: 'server', hosts: ['s.example.com'] },
    new Date(),
  )
  const free = createServer()
  free.listen(0, '127.0.0.1')
  await once(free, 'listening')
  const { port } = free.address() as { port: number }
  await new Promise((resolve) => free.close(resolve))
  const listener = (name: string, at: number) => ({
    name,
    port: at,
    protocol: 'HTTPS',
    hostname: 's.example.com',
    tls: { certificateRefs: [{ name: 'gw' }] },
  })
  await lab.client.create(gateways, gateway('secure', [listener('https', 443), listener('other', port)]))
  const listenerHas = (expected: string): Promise<unknown> =>
    waitFor(expected, async () => {
      const { status } = await lab.client.get(gateways, 'default', 'secure')
      return shown(status?.listeners?.[0]?.conditions).includes(expected)
    })
  await listenerHas('ResolvedRefs=False/InvalidCertificateRef')
  await lab.client.create(secrets, {
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'kubernetes.io/tls',
    metadata: { namespace: 'default', name: 'gw' },
    data: { 'tls.crt': btoa(pair.cert), 'tls.key': btoa(pair.key) },
  })
  await listenerHas('Programmed=True/Programmed')
  const rules = [{ backendRefs: [to('two')] }]
  await lab.client.create(httpRoutes, route('secure', 's.example.com', rules, 'secure'))
  assert.equal((await lab.eventually(200, 'https://s.example.com/y')).body, 'two /y')
  const direct = ['--connect-to', `s.example.com:${port}:127.0.0.1:${port}`]
  await waitFor('the other port', async () => {
    const { body, text } = await lab.curl(`https://s.example.com:${port}/z`, ...direct, '-v')
    return text.startsWith('HTTP/2 200') && body === 'two /z'
  })
  assert.equal((await lab.curl('http://s.example.com/')).status, 404, 'the listener has no HTTP')
}

async function grpc(_t: TestContext, lab: IngressLab): Promise<void> {
  const server = await grpcEcho(backendAddress)
  await lab.service('echo', [server.port])
  const echo: GrpcRoute = {
    apiVersion,
    kind: 'GRPCRoute',
    metadata: { namespace: 'default', name: 'echo' },
    spec: {
      parentRefs: [{ name: 'web', sectionName: 'http' }],
      hostnames: ['echo.gw.example.com'],
      rules: [{ matches: [{ method: { service: 'test.Echo', method: 'Unary' } }], backendRefs: [to('echo')] }],
    },
  }
  await lab.client.update(gateways, await withAllRoutes(lab))
  await lab.client.create(grpcRoutes, echo)
  const client = new GrpcClient(`127.0.0.1:${lab.http}`, credentials.createInsecure(), {
    'grpc.default_authority': 'echo.gw.example.com',
  })
  const call = (method: string): Promise<string> => {
    const { promise, resolve } = Promise.withResolvers<string>()
    client.makeUnaryRequest(`/test.Echo/${method}`, bytes, bytes, Buffer.from('hello'), (error, value) =>
      resolve(error ? error.message : String(value)),
    )
    return promise
  }
  await waitFor('gRPC', async () => (await call('Unary')) === 'hello')
  assert.match(await call('Both'), /UNIMPLEMENTED/, 'no rule matches')
  client.close()
  server.stop()
}

async function withAllRoutes(lab: IngressLab): Promise<Gateway> {
  const current = await lab.client.get(gateways, 'default', 'web')
  const listeners = current.spec.listeners?.map((one) => ({ ...one, allowedRoutes: { namespaces: { from: 'All' } } }))
  return { ...current, spec: { ...current.spec, listeners } }
}

await inNamespaces(import.meta.filename, () =>
  test('the Gateway API', async (t) => {
    const lab = await IngressLab.start(t)
    for (const name of ['one', 'two', 'three'])
      await lab.service(name, [
        await lab.listen(
          createServer((request, response) => {
            received = request
            response.setHeader('x-backend', name)
            request.resume().on('end', () => response.end(`${name} ${request.url}`))
            mirrored.set(name, (mirrored.get(name) ?? 0) + 1)
          }),
        ),
      ])
    await t.test('definitions may be installed while it runs', (t) => install(t, lab))
    await t.test('a Gateway and its routes have conditions', (t) => conditions(t, lab))
    await t.test('rules match paths, headers, parameters and methods', (t) => matches(t, lab))
    await t.test('filters change requests and responses', (t) => filters(t, lab))
    await t.test('weights, missing backends and mirrors', (t) => weights(t, lab))
    await t.test('references to other namespaces need a grant', (t) => grants(t, lab))
    await t.test('HTTPS, other ports and their certificates', (t) => secure(t, lab))
    await t.test('GRPCRoutes match methods', (t) => grpc(t, lab))
  }),
)
