/** The order of the chain, as seen in responses and audit events. */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { MetricsRegistry } from '../../lib/metrics/registry.ts'
import { notFound } from '../../machinery/status-error.ts'
import { memoryStore } from '../../storage/memory/index.ts'
import { auditing } from '../audit/index.ts'
import type { Authorizer } from '../authorization/authorizer.ts'
import { alwaysAllow } from '../authorization/fixed-authorizers.ts'
import { FlowControl } from '../flow-control/index.ts'
import { storeHealth } from '../health/store-health.ts'
import { type Handler, type HttpRequest, json, type Request } from '../http/exchange.ts'
import { WaitGroup } from '../http/wait-group.ts'
import { RequestContext } from '../request-info/request-context.ts'
import { requestInfo } from '../request-info/request-info.ts'
import { authenticationMetrics } from './identity/authentication-metrics.ts'
import { authorizationMetrics } from './identity/authorization-metrics.ts'
import { impersonationMetrics } from './identity/impersonation-metrics.ts'
import { buildChain, type ChainOptions } from './index.ts'
import { filterDurations } from './metrics/filter-metrics.ts'
import { RequestMetrics } from './metrics/request-metrics.ts'
import { warmUpChain } from './warm-up-chain.ts'

interface AuditedStage {
  readonly stage: string
  readonly user: { readonly username?: string }
  readonly impersonatedUser?: { readonly username?: string }
  readonly responseStatus?: { readonly code?: number; readonly message?: string }
  readonly annotations?: Readonly<Record<string, string>>
}

/** A request without a connection. */
function request(path: string, headers: Readonly<Record<string, string>> = {}): Request {
  const query = new URLSearchParams()
  const plain: HttpRequest = {
    method: 'GET',
    path,
    query,
    rawQuery: '',
    header: (name) => headers[name],
    headerValues: (name) => (headers[name] === undefined ? [] : [headers[name]]),
    headerNames: () => Object.keys(headers),
    hasHeaders: (prefix) => Object.keys(headers).some((name) => name.startsWith(prefix)),
    clientCertificate: () => undefined,
    remoteAddress: '127.0.0.1',
    protocol: 'HTTP/1.1',
    body: async () => Buffer.alloc(0),
    bodyBytes: undefined,
    bodyStream: () => undefined,
    signal: new AbortController().signal,
    onClose: () => () => {},
    received: performance.now(),
  }
  return Object.assign(new RequestContext(), plain, { info: requestInfo('GET', path, query) })
}

async function chain(t: TestContext, director: Handler, authorizer: Authorizer = alwaysAllow) {
  const folder = mkdtempSync(join(tmpdir(), 't8s-chain-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const policyFile = join(folder, 'policy.yaml')
  writeFileSync(
    policyFile,
    'apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\nrules: [{level: Metadata}]\n',
  )
  const path = join(folder, 'audit.log')
  const logged: string[] = []
  const log = (line: string): void => void logged.push(line)
  const metrics = new MetricsRegistry()
  const filters = filterDurations(metrics)
  const audit = await auditing(
    {
      policyFile,
      log: { path, format: 'json', mode: 'blocking-strict', batch: { bufferSize: 1, maxSize: 1, maxWaitMs: 0 } },
    },
    metrics,
    log,
  )
  const options: ChainOptions = {
    log,
    storeHealth: storeHealth(memoryStore(), log),
    waitGroup: new WaitGroup(),
    metrics: new RequestMetrics(metrics, () => undefined),
    authentication: {
      hasPasswords: false,
      authenticators: [(asked) => (asked.header('authorization') ? 'invalid' : { name: 'jane', groups: [] })],
      isIdentityHeader: undefined,
    },
    flow: { readOnly: 0, mutating: 0, dropped: () => {} },
    authorizer,
    attempts: authenticationMetrics(metrics, filters.authentication),
    impersonations: impersonationMetrics(metrics),
    decisions: authorizationMetrics(metrics, filters.authorization),
    requestTimeoutMs: 10_000,
    auditing: audit,
  }
  const handle = buildChain(options, director)
  t.after(() => audit?.stop())
  const events = (): AuditedStage[] =>
    readFileSync(path, 'utf8')
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as AuditedStage)
  return { handle, events, logged, options, metrics, audit }
}

const never: Handler = () => assert.fail('the director must not be called')

test('an unexpected error is 500, is logged with its request, and audited as a panic', async (t) => {
  const { handle, events, logged } = await chain(t, () => {
    throw new TypeError('x is undefined')
  })
  const { status, headers, body } = await handle(request('/api/v1/pods', { 'audit-id': 'one' }))
  assert.equal(status, 500)
  assert.equal(String(body), 'This request caused apiserver to panic. Look in the logs for details.\n')
  assert.equal(headers['audit-id'], 'one')
  assert.match(
    logged.join('\n'),
    /^apiserver panic'd: GET \/api\/v1\/pods auditID=one: TypeError: x is undefined\n +at /,
  )
  assert.deepEqual(
    events().map(({ stage, responseStatus }) => [stage, responseStatus?.code, responseStatus?.message]),
    [['Panic', 500, "APIServer panic'd: x is undefined"]],
  )
})

test('a request that waits for nothing is answered synchronously, also with an error', async (t) => {
  const { handle, events } = await chain(t, ({ path }) => {
    if (path !== '/version') throw notFound({ group: '', name: 'pods' }, 'a')
    return json(200, {})
  })
  const found = handle(request('/version'))
  const missing = handle(request('/api/v1/namespaces/default/pods/a'))
  assert.ok(!(found instanceof Promise) && !(missing instanceof Promise))
  assert.deepEqual([found.status, missing.status], [200, 404])
  assert.deepEqual(
    events().map(({ stage, responseStatus }) => [stage, responseStatus?.code]),
    [
      ['ResponseComplete', 200],
      ['ResponseComplete', 404],
    ],
  )
})

test('a StatusError is no panic', async (t) => {
  const { handle, events, logged } = await chain(t, async () => {
    throw notFound({ group: '', name: 'pods' }, 'a')
  })
  assert.equal((await handle(request('/api/v1/namespaces/default/pods/a'))).status, 404)
  assert.deepEqual(logged, [])
  assert.deepEqual(
    events().map(({ stage, responseStatus }) => [stage, responseStatus?.code]),
    [['ResponseComplete', 404]],
  )
})

test('authentication comes before audit, then impersonation, then authorization', async (t) => {
  const asked: string[] = []
  const authorizer: Authorizer = {
    ...alwaysAllow,
    authorize: ({ user, info }) => {
      asked.push(`${user?.name} ${info.verb}`)
      return { verdict: info.verb === 'impersonate' ? 'allow' : 'no opinion', reason: 'no rule' }
    },
  }
  const { handle, events } = await chain(t, never, authorizer)
  assert.equal((await handle(request('/version', { authorization: 'Bearer wrong' }))).status, 401)
  assert.equal((await handle(request('/version', { 'impersonate-user': 'ann' }))).status, 403)
  assert.deepEqual(asked, ['jane impersonate-on:user-info:get', 'jane impersonate', 'ann get'])
  assert.deepEqual(
    events().map(({ stage, user, impersonatedUser, responseStatus, annotations }) => [
      stage,
      user.username,
      impersonatedUser?.username,
      responseStatus?.code,
      annotations?.['authorization.k8s.io/decision'],
    ]),
    [
      ['ResponseStarted', undefined, undefined, 401, undefined],
      ['ResponseComplete', 'jane', 'ann', 403, 'forbid'],
    ],
  )
})

test('warm-up requests pass the same filters, but are neither counted nor audited', async (t) => {
  const { options, metrics, audit, events } = await chain(t, never)
  const flow = new FlowControl({ seats: 10, requestTimeoutMs: 10_000, size: () => undefined, metrics })
  const before = metrics.render()
  const handle = buildChain(
    warmUpChain({ ...options, flow }, () => undefined, audit?.discarding()),
    ({ user, audit: event }) => json(200, { user: user?.name, audited: event !== undefined }),
  )
  const { status, headers, body } = await handle(request('/api/v1/pods'))
  assert.equal(status, 200)
  assert.deepEqual(JSON.parse(String(body)), { user: 'system:apiserver', audited: true })
  assert.ok(headers['audit-id'] && headers['x-kubernetes-pf-flowschema-uid'] !== undefined)
  assert.equal(metrics.render(), before)
  assert.deepEqual(events(), [])
})
