import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Ingress, IngressClass } from '../../../client/kinds.ts'
import { isServed, pictureOfIngresses, resourceBackends } from './ingress-routes.ts'
import { RouteTable } from './route-table.ts'

type Spec = NonNullable<Ingress['spec']>
type Path = NonNullable<NonNullable<NonNullable<Spec['rules']>[number]['http']>['paths']>[number]

const service = (name: string): Path['backend'] => ({ service: { name, port: { number: 80 } } })
const path = (pathType: string, value: string | undefined, name = value ?? 'none'): Path => ({
  path: value,
  pathType,
  backend: service(name),
})
const ingress = (spec: Spec, name = 'web', createdAt = '2026-01-01T00:00:00Z'): Ingress => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'Ingress',
  metadata: { namespace: 'default', name, creationTimestamp: createdAt },
  spec,
})

/** Returns the name of the Service that gets the request; undefined for a 404. */
function serviceFor(ingresses: Ingress[], host: string, requested: string): string | undefined {
  const { routes, fallback } = pictureOfIngresses(ingresses)
  const found = new RouteTable(routes, fallback).find({
    host,
    path: requested,
    method: 'GET',
    header: () => undefined,
    parameter: () => undefined,
  })
  const backend = found?.action.backends[0]?.backend
  return backend && 'name' in backend ? backend.name : undefined
}

const matches = (paths: Path[], requested: string): string | undefined =>
  serviceFor([ingress({ rules: [{ http: { paths } }] })], 'example.com', requested)

describe('paths of an Ingress', () => {
  // The table of the documentation of Ingress, in its order.
  const table: readonly (readonly [
    type: string,
    paths: readonly string[],
    request: string,
    matched: string | undefined,
  ])[] = [
    ['Prefix', ['/'], '/any/path', '/'],
    ['Exact', ['/foo'], '/foo', '/foo'],
    ['Exact', ['/foo'], '/bar', undefined],
    ['Exact', ['/foo'], '/foo/', undefined],
    ['Exact', ['/foo/'], '/foo', undefined],
    ['Prefix', ['/foo'], '/foo', '/foo'],
    ['Prefix', ['/foo'], '/foo/', '/foo'],
    ['Prefix', ['/foo/'], '/foo', '/foo/'],
    ['Prefix', ['/foo/'], '/foo/', '/foo/'],
    ['Prefix', ['/aaa/bb'], '/aaa/bbb', undefined],
    ['Prefix', ['/aaa/bbb'], '/aaa/bbb', '/aaa/bbb'],
    ['Prefix', ['/aaa/bbb/'], '/aaa/bbb', '/aaa/bbb/'],
    ['Prefix', ['/aaa/bbb'], '/aaa/bbb/', '/aaa/bbb'],
    ['Prefix', ['/aaa/bbb'], '/aaa/bbb/ccc', '/aaa/bbb'],
    ['Prefix', ['/aaa/bbb'], '/aaa/bbbxyz', undefined],
    ['Prefix', ['/', '/aaa'], '/aaa/ccc', '/aaa'],
    ['Prefix', ['/', '/aaa', '/aaa/bbb'], '/aaa/bbb', '/aaa/bbb'],
    ['Prefix', ['/', '/aaa', '/aaa/bbb'], '/ccc', '/'],
    ['Prefix', ['/aaa'], '/ccc', undefined],
  ]
  for (const [type, paths, request, matched] of table)
    test(`${type} ${paths.join(', ')} and ${request}: ${matched ?? 'no match'}`, () => {
      assert.equal(
        matches(
          paths.map((one) => path(type, one)),
          request,
        ),
        matched,
      )
    })

  test('an exact path comes before an equal prefix', () => {
    assert.equal(matches([path('Prefix', '/foo', 'prefix'), path('Exact', '/foo', 'exact')], '/foo'), 'exact')
    assert.equal(matches([path('Prefix', '/foo', 'prefix'), path('Exact', '/foo', 'exact')], '/foo/'), 'prefix')
  })

  test('ImplementationSpecific is a prefix, and every path without one', () => {
    assert.equal(matches([path('ImplementationSpecific', '/foo')], '/foo/bar'), '/foo')
    assert.equal(matches([path('ImplementationSpecific', undefined)], '/foo/bar'), 'none')
  })
})

describe('hosts of an Ingress', () => {
  const rule = (host: string | undefined, name: string) => ({ host, http: { paths: [path('Prefix', '/', name)] } })
  const all = [ingress({ rules: [rule('a.foo.com', 'exact'), rule('*.foo.com', 'wildcard'), rule(undefined, 'any')] })]

  test('an exact host comes before a wildcard, and that before no host', () => {
    assert.equal(serviceFor(all, 'a.foo.com', '/'), 'exact')
    assert.equal(serviceFor(all, 'b.foo.com', '/'), 'wildcard')
    assert.equal(serviceFor(all, 'bar.com', '/'), 'any')
  })

  test('a wildcard stands for exactly one label', () => {
    assert.equal(serviceFor(all, 'a.b.foo.com', '/'), 'any')
    assert.equal(serviceFor(all, 'foo.com', '/'), 'any')
  })

  test('the oldest Ingress wins for an equal path', () => {
    const [older, newer] = [
      ingress({ rules: [rule('a.com', 'older')] }, 'z', '2026-01-01T00:00:00Z'),
      ingress({ rules: [rule('a.com', 'newer')] }, 'a', '2026-01-02T00:00:00Z'),
    ]
    assert.equal(serviceFor([newer, older], 'a.com', '/'), 'older')
  })
})

describe('the default backend', () => {
  const spec: Spec = {
    defaultBackend: service('default'),
    rules: [{ host: 'a.com', http: { paths: [path('Prefix', '/foo', 'foo')] } }, { host: 'b.com' }],
  }

  test('gets what no rule matches', () => {
    const all = [ingress(spec)]
    assert.equal(serviceFor(all, 'a.com', '/foo'), 'foo')
    assert.equal(serviceFor(all, 'a.com', '/bar'), 'default')
    assert.equal(serviceFor(all, 'b.com', '/'), 'default')
    assert.equal(serviceFor(all, 'other.com', '/'), 'default')
  })

  test('comes after the paths of other Ingresses for the same host', () => {
    const other = ingress({ rules: [{ host: 'a.com', http: { paths: [path('Prefix', '/', 'root')] } }] }, 'other')
    assert.equal(serviceFor([ingress(spec), other], 'a.com', '/bar'), 'root')
  })

  test('is not a resource', () => {
    const resource = { resource: { kind: 'Bucket', name: 'static' } }
    const one = ingress({
      defaultBackend: resource,
      rules: [{ http: { paths: [{ ...path('Exact', '/x'), backend: resource }] } }],
    })
    assert.deepEqual(resourceBackends(one), ['the default backend', 'the backend of /x'])
    assert.equal(serviceFor([one], 'a.com', '/x'), undefined)
  })
})

describe('an Ingress is served', () => {
  const classes: Record<string, IngressClass> = {
    t8s: { apiVersion: '', kind: '', metadata: {}, spec: { controller: 'typernetes.io/ingress' } },
    nginx: { apiVersion: '', kind: '', metadata: {}, spec: { controller: 'k8s.io/ingress-nginx' } },
  }
  const served = (spec: Spec, annotations?: Record<string, string>): boolean =>
    isServed({ ...ingress(spec), metadata: { annotations } }, (name) => classes[name])

  test('if its class, or the annotation of older clients, names a class of this proxy', () => {
    assert(served({ ingressClassName: 't8s' }))
    assert(served({}, { 'kubernetes.io/ingress.class': 't8s' }))
    assert(!served({ ingressClassName: 'nginx' }))
    assert(!served({ ingressClassName: 'missing' }))
    assert(!served({}))
  })
})

test('certificates are for the named hosts, else for the hosts of the rules', () => {
  const secretsOf = (spec: Spec): string[] =>
    pictureOfIngresses([ingress(spec)]).secrets.map(({ host, namespace, name }) => `${host}=${namespace}/${name}`)
  const rules = [{ host: 'a.com' }, { host: '*.b.com' }]
  assert.deepEqual(secretsOf({ rules, tls: [{ hosts: ['*.c.com'], secretName: 's' }] }), ['*.c.com=default/s'])
  assert.deepEqual(secretsOf({ rules, tls: [{ secretName: 's' }] }), ['a.com=default/s', '*.b.com=default/s'])
  assert.deepEqual(secretsOf({ tls: [{ secretName: 's' }] }), ['=default/s'])
})
