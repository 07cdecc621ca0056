/** A conversion webhook in a child process, and CustomResourceDefinitions that use it. */
import { join } from 'node:path'
import { issueCertificate, makeAuthority } from '../../src/lib/x509/certificates.ts'
import { askedProcess } from '../support/asked-process.ts'
import type { Lifetime, ReachableCluster } from '../support/reachable-cluster.ts'
import { waitFor } from '../support/wait-for.ts'
import type { Behavior, ReceivedReview } from './webhook-process.ts'
import { type DefinitionOptions, group, type Widget, widgetDefinition } from './widgets.ts'

export interface ConversionWebhook {
  readonly port: number
  /** The authority that signed the webhook's certificate, as base64 of PEM. */
  readonly caBundle: string
  /** The clientConfig of a definition that calls the webhook by URL. */
  readonly clientConfig: { readonly url: string; readonly caBundle: string }
  setBehavior(behavior: Behavior): Promise<void>
  /** The reviews received since the last call. */
  takeReviews(): Promise<readonly ReceivedReview[]>
  stop(): Promise<void>
}

/** The Service of the webhook, in tests that create one. */
export const service = { namespace: 'default', name: 'converter' }

/** Starts the child process and stops it at the end of the test. */
export async function conversionWebhook(t: Lifetime, port = 0): Promise<ConversionWebhook> {
  const now = new Date()
  const authority = await makeAuthority('webhook-ca', now)
  const hosts = ['127.0.0.1', 'localhost', `${service.name}.${service.namespace}.svc`]
  const serving = await issueCertificate(authority, { commonName: 'converter', usage: 'server', hosts }, now)
  const { ask, stop } = askedProcess(t, join(import.meta.dirname, 'webhook-process.ts'))
  const started = await ask<{ port: number }>({ start: { serving, port } })
  const caBundle = Buffer.from(authority.cert).toString('base64')
  return {
    port: started.port,
    caBundle,
    clientConfig: { url: `https://127.0.0.1:${started.port}/convert`, caBundle },
    setBehavior: async (behavior) => void (await ask({ behavior })),
    takeReviews: async () => (await ask<{ seen: ReceivedReview[] }>({ seen: true })).seen,
    stop,
  }
}

const definitionsPath = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
export const definitionPath = `${definitionsPath}/widgets.${group}`
export const widgetsPath = (version: string, namespace = 'default'): string =>
  `/apis/${group}/${version}/namespaces/${namespace}/widgets`

export const get = async (cluster: ReachableCluster, version: string, name: string): Promise<Widget> =>
  (await cluster.call('GET', `${widgetsPath(version)}/${name}`)) as unknown as Widget

/** Creates the definition of widgets and waits until they are served. */
export async function define(cluster: ReachableCluster, options: DefinitionOptions): Promise<void> {
  await cluster.call('POST', definitionsPath, widgetDefinition(options))
  const version = options.versions?.[0] ?? 'v1'
  await waitFor(
    'widgets are served',
    async () => (await cluster.call('GET', widgetsPath(version))).kind === 'WidgetList',
  )
}

/** Changes the definition of widgets, without waiting until the server serves the change. */
export async function redefine(cluster: ReachableCluster, options: DefinitionOptions): Promise<void> {
  const { spec } = widgetDefinition(options) as { readonly spec: object }
  await cluster.call('PATCH', definitionPath, { spec }, 'application/merge-patch+json')
}
