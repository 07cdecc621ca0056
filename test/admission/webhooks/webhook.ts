/** Admission webhooks in a separate process, and configurations that use them. */
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { join } from 'node:path'
import { issueCertificate, makeAuthority } from '../../../src/lib/x509/certificates.ts'
import { askedProcess } from '../../support/asked-process.ts'
import type { Lifetime, ReachableCluster } from '../../support/reachable-cluster.ts'
import type { Asked, Behaviour } from './webhook-process.ts'

export interface Webhooks {
  readonly caBundle: string
  readonly port: number
  /** Returns the client configuration of the webhook at `path`. */
  clientConfig(path: string): { readonly url: string; readonly caBundle: string }
  behave(path: string, behaviour: Behaviour): Promise<void>
  /** Returns the requests since the last call, at one path or all. */
  asked(path?: string): Promise<readonly Asked[]>
}

/** Starts the process. It ends with the test. */
export async function admissionWebhooks(t: Lifetime): Promise<Webhooks> {
  const now = new Date()
  const authority = await makeAuthority('webhook-ca', now)
  const serving = await issueCertificate(
    authority,
    { commonName: 'webhooks', usage: 'server', hosts: ['127.0.0.1', 'localhost'] },
    now,
  )
  const { ask } = askedProcess(t, join(import.meta.dirname, 'webhook-process.ts'))
  const { port } = await ask<{ port: number }>({ start: serving })
  const caBundle = Buffer.from(authority.cert).toString('base64')
  return {
    caBundle,
    port,
    clientConfig: (path) => ({ url: `https://127.0.0.1:${port}${path}`, caBundle }),
    behave: async (path, behaviour) => void (await ask({ behave: { path, behaviour } })),
    asked: async (path) =>
      (await ask<{ asked: Asked[] }>({ asked: true })).asked.filter((one) => path === undefined || one.path === path),
  }
}

export const group = '/apis/admissionregistration.k8s.io/v1'
export const configMaps = '/api/v1/namespaces/default/configmaps'

/** A rule for config maps, unless overridden. */
export const rule = (more: object = {}): object => ({
  apiGroups: [''],
  apiVersions: ['v1'],
  operations: ['CREATE'],
  resources: ['configmaps'],
  ...more,
})

export interface HookOptions {
  readonly name?: string
  readonly rules?: readonly object[]
  readonly [field: string]: unknown
}

/** A webhook at `path` for config maps with the label `hook=PATH`, which separates the tests of one server. */
export const hook = (webhooks: Webhooks, path: string, more: HookOptions = {}): object => ({
  name: `${path.slice(1)}.example.com`,
  clientConfig: webhooks.clientConfig(path),
  rules: [rule()],
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
  objectSelector: { matchLabels: { hook: path.slice(1) } },
  ...more,
})

/** Creates a configuration. Resolves when it is in effect. */
export async function configure(
  cluster: ReachableCluster,
  kind: 'Mutating' | 'Validating',
  name: string,
  hooks: readonly object[],
): Promise<void> {
  const plural = `${kind.toLowerCase()}webhookconfigurations`
  await cluster.call('POST', `${group}/${plural}`, {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: `${kind}WebhookConfiguration`,
    metadata: { name },
    webhooks: hooks,
  })
}

export const configMap = (name: string, label?: string, more: object = {}): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...(label && { labels: { hook: label } }) },
  ...more,
})

/** Returns the Status of a call that must fail. */
export async function refusal(
  call: Promise<unknown>,
): Promise<{ readonly code: number; readonly message: string; readonly reason?: string; readonly details?: unknown }> {
  try {
    await call
  } catch (error) {
    const [, body] = /: \d+ (.*)$/s.exec((error as Error).message) ?? []
    if (body === undefined) throw error
    return JSON.parse(body)
  }
  throw new Error('the call was not refused')
}

/** Returns a response with its headers. */
export async function answerOf(
  { client }: ReachableCluster,
  method: string,
  path: string,
  sent?: object,
): Promise<{ readonly headers: IncomingMessage['headers']; readonly body: string }> {
  const { ca, cert, key, url } = client
  const asked = request(new URL(path, url), {
    ca,
    cert,
    key,
    agent: false,
    method,
    headers: { 'content-type': 'application/json' },
  })
  const [response]: IncomingMessage[] = await once(asked.end(sent && JSON.stringify(sent)), 'response')
  return { headers: response!.headers, body: Buffer.concat(await response!.toArray()).toString() }
}

/** Returns the server's metrics as text. */
export const metricsOf = async (cluster: ReachableCluster): Promise<string> =>
  (await answerOf(cluster, 'GET', '/metrics')).body
