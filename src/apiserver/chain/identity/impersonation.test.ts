import assert from 'node:assert/strict'
import test from 'node:test'
import { FeatureGates } from '../../../api/features/feature-gates.ts'
import { MetricsRegistry } from '../../../lib/metrics/registry.ts'
import { StatusError } from '../../../machinery/status-error.ts'
import { type AccessAttributes, allow, noOpinion } from '../../authorization/authorizer.ts'
import type { Request } from '../../http/exchange.ts'
import type { UserInfo } from '../../request-info/user-info.ts'
import { impersonation } from './impersonation.ts'
import { impersonationMetrics } from './impersonation-metrics.ts'

type Headers = Readonly<Record<string, readonly string[]>>

const proxy: UserInfo = { name: 'proxy', groups: ['system:authenticated'] }

/**
 * Impersonates as `proxy`, whose permissions are given by `may`: `group/resource/subresource namespace/name`. Returns
 * the resulting user and the permissions that were checked.
 */
async function acting(
  headers: Headers,
  may: (claim: string) => boolean = () => true,
  { metrics = impersonationMetrics(new MetricsRegistry()), again = false } = {},
) {
  const checked: string[] = []
  let isFirst = again
  const authorizer = {
    name: 'test',
    authorize: ({ user, info }: AccessAttributes) => {
      assert.equal(user, proxy)
      // Modes have tests of their own.
      if (info.verb !== 'impersonate') return noOpinion()
      const claim = `${info.group}/${info.resource}/${info.subresource} ${info.namespace}/${info.name}`
      checked.push(claim)
      return isFirst || may(claim) ? allow() : noOpinion('not today')
    },
    rulesFor: () => ({ resourceRules: [], nonResourceRules: [], incomplete: false }),
  }
  const requestOf = (): Request =>
    ({
      query: new URLSearchParams(),
      user: proxy,
      info: { verb: 'get', path: '/api' },
      headerNames: () => Object.keys(headers),
      hasHeaders: (prefix: string) => Object.keys(headers).some((name) => name.startsWith(prefix)),
      headerValues: (name: string) => headers[name] ?? [],
    }) as unknown as Request
  const filter = impersonation(authorizer, metrics)
  const next = async () => ({ status: 200, headers: {} })
  if (isFirst) await filter(requestOf(), next)
  isFirst = false
  const request = requestOf()
  await filter(request, next)
  return { checked, user: request.user }
}

/** `again`: the same request was allowed before, by the legacy mode. */
const refusal = async (
  headers: Headers,
  may: (claim: string) => boolean,
  { code = 403, again = true } = {},
): Promise<string> => {
  const error = await acting(headers, may, { again }).then(
    () => undefined,
    (error: unknown) => error,
  )
  assert.ok(error instanceof StatusError && error.code === code)
  return error.message
}

test('requests without impersonation headers keep their user', async () => {
  assert.deepEqual((await acting({ 'x-other': ['a'] })).user, proxy)
  assert.deepEqual((await acting({ 'impersonate-user': [''] })).checked, [])
})

test('user, groups, uid and extras are checked separately, and values may contain commas', async () => {
  const { checked, user } = await acting({
    'impersonate-user': ['alice'],
    'impersonate-group': ['a, system:masters', 'b'],
    'impersonate-extra-acme.com%2fproject': ['p 1', '%70'],
    'impersonate-uid': ['u-1'],
  })
  assert.deepEqual(checked, [
    '/users/ /alice',
    'authentication.k8s.io/uids/ /u-1',
    '/groups/ /a, system:masters',
    '/groups/ /b',
    'authentication.k8s.io/userextras/acme.com/project /p 1',
    'authentication.k8s.io/userextras/acme.com/project /%70',
  ])
  const groups = ['a, system:masters', 'b', 'system:authenticated']
  assert.deepEqual(user, { name: 'alice', groups, uid: 'u-1', extra: { 'acme.com/project': ['p 1', '%70'] } })
})

test('service accounts are checked as such, and have their groups unless others are given', async () => {
  const name = 'system:serviceaccount:ns:robot'
  const { checked, user } = await acting({ 'impersonate-user': [name] })
  assert.deepEqual(checked, ['/serviceaccounts/ ns/robot'])
  assert.deepEqual(user?.groups, ['system:serviceaccounts', 'system:serviceaccounts:ns', 'system:authenticated'])
  assert.deepEqual((await acting({ 'impersonate-user': [name], 'impersonate-group': ['dev'] })).user?.groups, [
    'dev',
    'system:authenticated',
  ])
  assert.deepEqual((await acting({ 'impersonate-user': ['system:serviceaccount:ns:a:b'] })).checked, [
    '/users/ /system:serviceaccount:ns:a:b',
  ])
  assert.deepEqual((await acting({ 'impersonate-user': ['system:serviceaccount:NS:robot'] })).checked, [
    '/users/ /system:serviceaccount:NS:robot',
  ])
})

test('the anonymous user is not authenticated', async () => {
  const user = ['system:anonymous']
  assert.deepEqual((await acting({ 'impersonate-user': user })).user?.groups, ['system:unauthenticated'])
  assert.deepEqual((await acting({ 'impersonate-user': user, 'impersonate-group': ['a'] })).user?.groups, [
    'a',
    'system:unauthenticated',
  ])
  assert.deepEqual(
    (await acting({ 'impersonate-user': ['b'], 'impersonate-group': ['system:unauthenticated'] })).user?.groups,
    ['system:unauthenticated'],
  )
})

test('one claim that is denied denies all, with the message for its resource', async () => {
  const headers = {
    'impersonate-user': ['alice'],
    'impersonate-group': ['dev'],
    'impersonate-extra-scopes': ['view', 'edit'],
    'impersonate-uid': ['u'],
  }
  assert.equal(
    await refusal(headers, () => false),
    'users "alice" is forbidden: User "proxy" cannot impersonate resource "users" in API group "" at the cluster ' +
      'scope: not today',
  )
  assert.match(await refusal(headers, (claim) => !claim.includes('groups')), /^groups "dev" is forbidden: /)
  assert.match(
    await refusal(headers, (claim) => !claim.endsWith('/edit')),
    new RegExp(
      '^userextras\\.authentication\\.k8s\\.io "edit" is forbidden: .* resource "userextras/scopes" in API group ' +
        '"authentication\\.k8s\\.io" at the cluster scope: not today$',
    ),
  )
  assert.match(
    await refusal(headers, (claim) => !claim.includes('uids')),
    /^uids\.authentication\.k8s\.io "u" is forbidden: /,
  )
  assert.match(
    await refusal({ 'impersonate-user': ['system:serviceaccount:ns:robot'] }, () => false),
    /^serviceaccounts "robot" is forbidden: .* in the namespace "ns": not today$/,
  )
})

test('the error is that of the first mode tried, which is the last one the user had', async () => {
  const headers = { 'impersonate-user': ['alice'] }
  const first = 'forbidden: User "proxy" cannot impersonate-on:user-info:get path "/api"'
  assert.equal(await refusal(headers, () => false, { again: false }), first)
  assert.match(await refusal(headers, () => false, { again: true }), /^users "alice" is forbidden: /)
})

test('groups, uids and extras without a user are a bad request', async () => {
  assert.equal(
    await refusal({ 'impersonate-group': ['dev'], 'impersonate-extra-a': ['b'] }, () => true, {
      code: 400,
      again: false,
    }),
    'requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string{"dev"}, ' +
      'Extra:map[string][]string{"a":[]string{"b"}}} without impersonating a user name',
  )
  assert.equal(
    await refusal({ 'impersonate-uid': ['u'] }, () => true, { code: 400, again: false }),
    'requested &user.DefaultInfo{Name:"", UID:"u", Groups:[]string(nil), Extra:map[string][]string(nil)} without ' +
      'impersonating a user name',
  )
})

test('attempts and authorization checks are counted by mode', async () => {
  const registry = new MetricsRegistry()
  const metrics = impersonationMetrics(registry)
  const headers = { 'impersonate-user': ['alice'], 'impersonate-group': ['dev'] }
  await acting(headers, () => true, { metrics })
  await acting(headers, (claim) => !claim.includes('groups'), { metrics }).catch(() => {})
  const counts = registry
    .render()
    .split('\n')
    .filter((line) => /^apiserver_impersonation_\w+_total\{/.test(line))
  assert.deepEqual(counts.sort(), [
    'apiserver_impersonation_attempts_total{mode="",decision="denied"} 1',
    'apiserver_impersonation_attempts_total{mode="legacy",decision="allowed"} 1',
    'apiserver_impersonation_authorization_attempts_total{mode="legacy",decision="allowed"} 3',
    'apiserver_impersonation_authorization_attempts_total{mode="legacy",decision="denied"} 1',
    'apiserver_impersonation_authorization_attempts_total{mode="user-info",decision="denied"} 2',
  ])
})

test('many groups are checked with one wildcard before each is checked', async () => {
  const mode = (verb: string) => verb === 'impersonate:user-info' || verb === 'impersonate-on:user-info:get'
  const askedOf = async (groups: readonly string[], may: (name: string) => boolean): Promise<readonly string[]> => {
    const asked: string[] = []
    const authorizer = {
      name: 'test',
      authorize: ({ info }: AccessAttributes) => {
        if (!mode(info.verb)) return noOpinion()
        if (info.verb === 'impersonate:user-info')
          asked.push(`${info.group}/${info.version}/${info.resource} ${info.name}`)
        return info.resource !== 'groups' || may(info.name) ? allow() : noOpinion()
      },
      rulesFor: () => ({ resourceRules: [], nonResourceRules: [], incomplete: false }),
    }
    const headers: Headers = { 'impersonate-user': ['alice'], 'impersonate-group': groups }
    const request = {
      user: proxy,
      query: new URLSearchParams(),
      info: { verb: 'get', path: '/api' },
      headerNames: () => Object.keys(headers),
      hasHeaders: () => true,
      headerValues: (name: string) => headers[name] ?? [],
    } as unknown as Request
    await Promise.resolve(
      impersonation(authorizer, impersonationMetrics(new MetricsRegistry()))(request, async () => ({
        status: 200,
        headers: {},
      })),
    ).catch(() => {})
    return asked.map((claim) => claim.replace('authentication.k8s.io/v1/', ''))
  }
  assert.deepEqual(await askedOf(['a', 'b', 'c'], () => true), ['users alice', 'groups a', 'groups b', 'groups c'])
  assert.deepEqual(await askedOf(['a', 'b', 'c', 'd'], (name) => name === '*'), ['users alice', 'groups *'])
  assert.deepEqual(await askedOf(['a', 'b', 'c', 'd'], (name) => name === 'a'), [
    'users alice',
    'groups *',
    'groups a',
    'groups b',
  ])
})

test('without ConstrainedImpersonation only the permission to impersonate is checked', async () => {
  const verbsAsked = async (isOn: boolean): Promise<string[]> => {
    const verbs: string[] = []
    const authorizer = {
      name: 'test',
      authorize: ({ info }: AccessAttributes) => {
        verbs.push(info.verb)
        return info.verb === 'impersonate' ? allow() : noOpinion()
      },
      rulesFor: () => ({ resourceRules: [], nonResourceRules: [], incomplete: false }),
    }
    const request = {
      query: new URLSearchParams(),
      user: proxy,
      info: { verb: 'get', path: '/api' },
      headerNames: () => ['impersonate-user'],
      hasHeaders: () => true,
      headerValues: (name: string) => (name === 'impersonate-user' ? ['alice'] : []),
    } as unknown as Request
    const filter = impersonation(
      authorizer,
      impersonationMetrics(new MetricsRegistry()),
      new FeatureGates({ ConstrainedImpersonation: isOn }),
    )
    await filter(request, async () => ({ status: 200, headers: {} }))
    assert.equal(request.user?.name, 'alice')
    return verbs
  }
  assert.deepEqual(await verbsAsked(false), ['impersonate'])
  assert.ok((await verbsAsked(true)).some((verb) => verb.startsWith('impersonate-on:')))
})
