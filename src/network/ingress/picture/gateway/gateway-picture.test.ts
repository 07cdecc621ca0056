import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { RouteTable } from '../route-table.ts'
import type { NewCondition } from './conditions.ts'
import { type GatewayPicture, type GatewayWorld, gatewayController, pictureOfGateways } from './gateway-picture.ts'
import { commonHostnames } from './hostnames.ts'
import type { Gateway, GrpcRoute, HttpRoute, HttpRule, Listener } from './kinds.ts'

const apiVersion = 'gateway.networking.k8s.io/v1'

const http = (name: string, hostname?: string, rest: Partial<Listener> = {}): Listener => ({
  name,
  port: 80,
  protocol: 'HTTP',
  hostname,
  ...rest,
})

const gateway = (listeners: Listener[], name = 'web', createdAt = '2026-01-01T00:00:00Z'): Gateway => ({
  apiVersion,
  kind: 'Gateway',
  metadata: { namespace: 'default', name, creationTimestamp: createdAt },
  spec: { gatewayClassName: 't8s', listeners },
})

const route = (
  name: string,
  hostnames: string[],
  rules: HttpRule[],
  rest: Partial<HttpRoute['spec']> = {},
): HttpRoute => ({
  apiVersion,
  kind: 'HTTPRoute',
  metadata: { namespace: 'default', name },
  spec: { parentRefs: [{ name: 'web' }], hostnames, rules, ...rest },
})

const backendRefs = (name: string) => [{ name, port: 80 }]

const pictureOf = (world: Partial<GatewayWorld>): GatewayPicture =>
  pictureOfGateways({
    classes: [
      { apiVersion, kind: 'GatewayClass', metadata: { name: 't8s' }, spec: { controllerName: gatewayController } },
    ],
    gateways: [],
    httpRoutes: [],
    grpcRoutes: [],
    grants: [],
    addresses: ['127.0.0.1'],
    hasService: () => true,
    secretFault: () => undefined,
    portFault: () => undefined,
    namespaceLabels: () => undefined,
    ...world,
  })

const shown = (conditions: readonly NewCondition[] = []): string[] =>
  conditions.map(({ type, status, reason }) => `${type}=${status}/${reason}`)

/** Returns the name of the Service that gets the request; undefined for a 404. */
function backendFor(picture: GatewayPicture, host: string, path = '/', headers: Record<string, string> = {}) {
  const port = picture.ports.get(80)
  const found = new RouteTable(port?.routes ?? [], undefined, port?.hosts).find({
    host,
    path,
    method: 'GET',
    header: (name) => headers[name],
    parameter: () => undefined,
  })
  const backend = found?.action.backends[0]?.backend
  return backend && 'name' in backend ? backend.name : undefined
}

test('hostnames of a listener and a route have these in common', () => {
  const table: readonly (readonly [string | undefined, readonly string[], readonly string[]])[] = [
    [undefined, [], ['']],
    ['a.com', [], ['a.com']],
    [undefined, ['a.com', '*.b.com'], ['a.com', '*.b.com']],
    ['*.a.com', ['x.a.com', 'x.y.a.com', 'a.com', 'b.com'], ['x.a.com', 'x.y.a.com']],
    ['x.a.com', ['*.a.com', '*.b.com'], ['x.a.com']],
    ['*.a.com', ['*.x.a.com'], ['*.x.a.com']],
    ['*.x.a.com', ['*.a.com'], ['*.x.a.com']],
    ['a.com', ['b.com'], []],
  ]
  for (const [listener, hostnames, expected] of table)
    assert.deepEqual(commonHostnames(listener, hostnames), expected, `${listener} ${hostnames}`)
})

describe('the order of rules', () => {
  const path = (type: string, value: string) => ({ path: { type, value } })
  const header = (name: string) => ({ headers: [{ name, value: '1' }] })

  test('is exact path, longest prefix, number of headers, oldest route, first rule', () => {
    const rules: HttpRule[] = [
      { matches: [path('PathPrefix', '/')], backendRefs: backendRefs('root') },
      { matches: [path('PathPrefix', '/a/b')], backendRefs: backendRefs('long') },
      { matches: [{ ...path('PathPrefix', '/a'), ...header('One') }], backendRefs: backendRefs('header') },
      { matches: [path('PathPrefix', '/a')], backendRefs: backendRefs('short') },
      { matches: [path('Exact', '/a/b')], backendRefs: backendRefs('exact') },
      { matches: [path('PathPrefix', '/a/b')], backendRefs: backendRefs('later') },
    ]
    const picture = pictureOf({ gateways: [gateway([http('one')])], httpRoutes: [route('r', [], rules)] })
    assert.equal(backendFor(picture, 'x.com', '/a/b'), 'exact')
    assert.equal(backendFor(picture, 'x.com', '/a/b/c', { one: '1' }), 'long')
    assert.equal(backendFor(picture, 'x.com', '/a/c', { one: '1' }), 'header')
    assert.equal(backendFor(picture, 'x.com', '/a/c'), 'short')
    assert.equal(backendFor(picture, 'x.com', '/b'), 'root')
  })

  test('of routes of equal rules is their age, then their name', () => {
    const named = (name: string, createdAt: string): HttpRoute => ({
      ...route(name, [], [{ backendRefs: backendRefs(name) }]),
      metadata: { namespace: 'default', name, creationTimestamp: createdAt },
    })
    const gateways = [gateway([http('one')])]
    const aged = [named('a', '2026-01-02T00:00:00Z'), named('b', '2026-01-01T00:00:00Z')]
    assert.equal(backendFor(pictureOf({ gateways, httpRoutes: aged }), 'x.com'), 'b')
    const equal = [named('b', '2026-01-01T00:00:00Z'), named('a', '2026-01-01T00:00:00Z')]
    assert.equal(backendFor(pictureOf({ gateways, httpRoutes: equal }), 'x.com'), 'a')
  })

  test('a wildcard stands for one label or more, and a more specific host decides', () => {
    const httpRoutes = [
      route('wild', ['*.a.com'], [{ backendRefs: backendRefs('wild') }]),
      route('exact', ['x.a.com'], [{ matches: [path('Exact', '/x')], backendRefs: backendRefs('exact') }]),
    ]
    const picture = pictureOf({ gateways: [gateway([http('one')])], httpRoutes })
    assert.equal(backendFor(picture, 'y.a.com'), 'wild')
    assert.equal(backendFor(picture, 'z.y.a.com'), 'wild')
    assert.equal(backendFor(picture, 'a.com'), undefined)
    assert.equal(backendFor(picture, 'x.a.com', '/x'), 'exact')
    assert.equal(backendFor(picture, 'x.a.com', '/y'), undefined)
  })
})

describe('listeners', () => {
  test('serve no hosts of more specific listeners', () => {
    const rules = [{ backendRefs: backendRefs('wild') }]
    const httpRoutes = [route('wild', [], rules, { parentRefs: [{ name: 'web', sectionName: 'wild' }] })]
    const gateways = [gateway([http('wild', '*.a.com'), http('exact', 'x.a.com')])]
    const picture = pictureOf({ gateways, httpRoutes })
    assert.equal(backendFor(picture, 'y.a.com'), 'wild')
    assert.equal(backendFor(picture, 'x.a.com'), undefined)
    assert.deepEqual(
      picture.gateways[0]?.listeners.map(({ attachedRoutes }) => attachedRoutes),
      [1, 0],
    )
  })

  test('in conflict with an earlier one are not usable', () => {
    const listeners = [http('a', 'a.com'), http('b', 'a.com'), http('c', undefined, { protocol: 'HTTPS' })]
    const [first] = pictureOf({ gateways: [gateway(listeners)] }).gateways
    assert.deepEqual(
      first?.listeners.map(({ conditions }) => shown(conditions)[1]),
      ['Conflicted=False/NoConflicts', 'Conflicted=True/HostnameConflict', 'Conflicted=True/ProtocolConflict'],
    )
    assert.deepEqual(shown(first?.conditions), ['Accepted=True/ListenersNotValid', 'Programmed=True/Programmed'])
  })

  test('need a protocol, a port and a certificate that the proxy can use', () => {
    const https = (certificateRefs: NonNullable<Listener['tls']>['certificateRefs'], mode?: string): Listener => ({
      ...http('https'),
      protocol: 'HTTPS',
      port: 443,
      tls: { mode, certificateRefs },
    })
    const conditionsOf = (listener: Listener, world: Partial<GatewayWorld> = {}): string[] =>
      shown(pictureOf({ gateways: [gateway([listener])], ...world }).gateways[0]?.listeners[0]?.conditions)
    const usable = ['Accepted=True/Accepted', 'ResolvedRefs=True/ResolvedRefs', 'Programmed=True/Programmed']
    const table: readonly (readonly [string, string[]])[] = [
      ['HTTP', conditionsOf(http('one'))],
      ['HTTPS', conditionsOf(https([{ name: 'cert' }]))],
    ]
    for (const [what, found] of table)
      assert.deepEqual(
        found.filter((one) => !one.startsWith('Conflicted')),
        usable,
        what,
      )
    const has = (found: string[], expected: string): void => {
      assert(found.includes(expected), `${found} ${expected}`)
      assert(found.includes('Programmed=False/Invalid'))
    }
    has(conditionsOf(http('one', undefined, { protocol: 'UDP' })), 'Accepted=False/UnsupportedProtocol')
    has(conditionsOf(http('one'), { portFault: () => 'in use' }), 'Accepted=False/PortUnavailable')
    has(conditionsOf(https([{ name: 'cert' }], 'Passthrough')), 'Accepted=False/UnsupportedValue')
    has(conditionsOf(https([])), 'ResolvedRefs=False/InvalidCertificateRef')
    has(conditionsOf(https([{ name: 'x', kind: 'ConfigMap' }])), 'ResolvedRefs=False/InvalidCertificateRef')
    has(conditionsOf(https([{ name: 'x', namespace: 'other' }])), 'ResolvedRefs=False/RefNotPermitted')
    has(
      conditionsOf(https([{ name: 'x' }]), { secretFault: () => 'missing' }),
      'ResolvedRefs=False/InvalidCertificateRef',
    )
  })

  test('of unknown kinds report them, and serve the others', () => {
    const kinds = [{ kind: 'HTTPRoute' }, { kind: 'TCPRoute' }]
    const [first] = pictureOf({ gateways: [gateway([http('one', undefined, { allowedRoutes: { kinds } })])] }).gateways
    const [state] = first?.listeners ?? []
    assert.equal(shown(state?.conditions)[2], 'ResolvedRefs=False/InvalidRouteKinds')
    assert.deepEqual(state?.supportedKinds, [{ group: 'gateway.networking.k8s.io', kind: 'HTTPRoute' }])
    assert(state?.isUsable)
  })
})

describe('conditions of a route', () => {
  const conditionsOf = (one: HttpRoute, listeners: Listener[], world: Partial<GatewayWorld> = {}): string[] =>
    pictureOf({ gateways: [gateway(listeners)], httpRoutes: [one], ...world }).routes[0]!.parents.map(
      ({ conditions }) => shown(conditions).join(),
    )
  const rules = [{ backendRefs: backendRefs('one') }]
  const resolved = 'ResolvedRefs=True/ResolvedRefs'

  test('say why no listener serves it', () => {
    const other = { ...route('r', [], rules), metadata: { namespace: 'other', name: 'r' } }
    const withParent = (rest: object): HttpRoute =>
      route('r', [], rules, { parentRefs: [{ name: 'web', namespace: 'default', ...rest }] })
    const listeners = [http('one', 'a.com')]
    assert.deepEqual(conditionsOf(route('r', [], rules), listeners), [`Accepted=True/Accepted,${resolved}`])
    assert.deepEqual(conditionsOf(withParent({ sectionName: 'two' }), listeners), [
      `Accepted=False/NoMatchingParent,${resolved}`,
    ])
    assert.deepEqual(conditionsOf(withParent({ port: 81 }), listeners), [`Accepted=False/NoMatchingParent,${resolved}`])
    assert.deepEqual(conditionsOf(route('r', ['b.com'], rules), listeners), [
      `Accepted=False/NoMatchingListenerHostname,${resolved}`,
    ])
    const foreign = { ...other, spec: withParent({}).spec }
    assert.deepEqual(conditionsOf(foreign, listeners), [
      'Accepted=False/NotAllowedByListeners,ResolvedRefs=True/ResolvedRefs',
    ])
    assert.deepEqual(conditionsOf(withParent({ name: 'of-others' }), listeners), [])
  })

  test('name the first reference that is not usable', () => {
    const reasonOf = (backend: object, world: Partial<GatewayWorld> = {}): string | undefined =>
      conditionsOf(route('r', [], [{ backendRefs: [{ name: 'x', port: 80, ...backend }] }]), [http('one')], world)[0]
        ?.split('/')
        .at(-1)
    assert.equal(reasonOf({}), 'ResolvedRefs')
    assert.equal(reasonOf({ kind: 'Bucket' }), 'InvalidKind')
    assert.equal(reasonOf({}, { hasService: () => false }), 'BackendNotFound')
    assert.equal(reasonOf({ namespace: 'other' }), 'RefNotPermitted')
    const grantFor = (kind: string, name?: string) => [
      {
        apiVersion,
        kind: 'ReferenceGrant',
        metadata: { namespace: 'other', name: 'grant' },
        spec: {
          from: [{ group: 'gateway.networking.k8s.io', kind, namespace: 'default' }],
          to: [{ group: '', kind: 'Service', name }],
        },
      },
    ]
    assert.equal(reasonOf({ namespace: 'other' }, { grants: grantFor('HTTPRoute') }), 'ResolvedRefs')
    assert.equal(reasonOf({ namespace: 'other' }, { grants: grantFor('HTTPRoute', 'y') }), 'RefNotPermitted')
    assert.equal(reasonOf({ namespace: 'other' }, { grants: grantFor('Gateway') }), 'RefNotPermitted')
  })

  test('reject rules that the proxy cannot serve', () => {
    const reasonOf = (rule: HttpRule): string | undefined =>
      conditionsOf(route('r', [], [rule]), [http('one')])[0]?.split(',')[0]
    const redirect = { type: 'RequestRedirect', requestRedirect: {} }
    assert.equal(reasonOf({ filters: [{ type: 'CORS' }] }), 'Accepted=False/UnsupportedValue')
    assert.equal(reasonOf({ filters: [redirect, { type: 'URLRewrite' }] }), 'Accepted=False/IncompatibleFilters')
    const expression = { path: { type: 'RegularExpression', value: '(' } }
    assert.equal(reasonOf({ matches: [expression] }), 'Accepted=False/UnsupportedValue')
    const backend = { name: 'x', port: 80, filters: [redirect] }
    assert.equal(reasonOf({ backendRefs: [backend] }), 'Accepted=False/UnsupportedValue')
  })
})

test('rules of a GRPCRoute match services and methods', () => {
  const rule = (method: object, name: string) => ({ matches: [{ method }], backendRefs: backendRefs(name) })
  const one: GrpcRoute = {
    apiVersion,
    kind: 'GRPCRoute',
    metadata: { namespace: 'default', name: 'grpc' },
    spec: {
      parentRefs: [{ name: 'web' }],
      rules: [
        rule({ service: 'a.B' }, 'service'),
        rule({ service: 'a.B', method: 'C' }, 'both'),
        rule({ method: 'D' }, 'method'),
        rule({ type: 'RegularExpression', service: 'x\\..*' }, 'expression'),
      ],
    },
  }
  const picture = pictureOf({ gateways: [gateway([http('one')])], grpcRoutes: [one] })
  assert.equal(backendFor(picture, 'x.com', '/a.B/C'), 'both')
  assert.equal(backendFor(picture, 'x.com', '/a.B/E'), 'service')
  assert.equal(backendFor(picture, 'x.com', '/a.B/D'), 'service')
  assert.equal(backendFor(picture, 'x.com', '/a.Bc/E'), undefined)
  assert.equal(backendFor(picture, 'x.com', '/other/D'), 'method')
  assert.equal(backendFor(picture, 'x.com', '/x.y/E'), 'expression')
})

test('Gateways of other classes are ignored', () => {
  const other = { ...gateway([http('one')]), spec: { gatewayClassName: 'other', listeners: [http('one')] } }
  const picture = pictureOf({ gateways: [other] })
  assert.deepEqual([picture.gateways, picture.ports.size], [[], 0])
})
