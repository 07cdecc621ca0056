/** A conversion webhook in a process of its own, and definitions that use it. */
import { join } from 'node:path'
import { issueCertificate, makeAuthority } from '../../src/cluster/pki/certificates.ts'
import { askedProcess } from '../support/asked-process.ts'
import type { Lifetime, ReachableCluster } from '../support/reachable-cluster.ts'
import { waitFor } from '../support/wait-for.ts'
import type { Manner, Seen } from './webhook-process.ts'
import { type DefinitionOptions, group, type Widget, widgetDefinition } from './widgets.ts'

export interface ConversionWebhook {
  readonly port: number
  /** Of the authority that has signed its certificate. */
  readonly caBundle: string
  /** What a definition says to reach it by URL. */
  readonly clientConfig: { readonly url: string; readonly caBundle: string }
  answers(manner: Manner): Promise<void>
  /** The reviews since this was last asked. */
  seen(): Promise<readonly Seen[]>
  stop(): Promise<void>
}

/** Where a Service would be. */
export const service = { namespace: 'default', name: 'converter' }

/** Starts the process; it ends with the test at the latest. */
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
    answers: async (manner) => void (await ask({ manner })),
    seen: async () => (await ask<{ seen: Seen[] }>({ seen: true })).seen,
    stop,
  }
}

const definitionsPath = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
export const definitionPath = `${definitionsPath}/widgets.${group}`
export const widgetsPath = (version: string, namespace = 'default'): string =>
  `/apis/${group}/${version}/namespaces/${namespace}/widgets`

export const get = async (cluster: ReachableCluster, version: string, name: string): Promise<Widget> =>
  (await cluster.call('GET', `${widgetsPath(version)}/${name}`)) as unknown as Widget

/** Makes a definition, and waits until it is served. */
export async function define(cluster: ReachableCluster, options: DefinitionOptions): Promise<void> {
  await cluster.call('POST', definitionsPath, widgetDefinition(options))
  const version = options.versions?.[0] ?? 'v1'
  await waitFor(
    'widgets are served',
    async () => (await cluster.call('GET', widgetsPath(version))).kind === 'WidgetList',
  )
}

/** Changes a definition. What is served follows a moment later. */
export async function redefine(cluster: ReachableCluster, options: DefinitionOptions): Promise<void> {
  const { spec } = widgetDefinition(options) as { readonly spec: object }
  await cluster.call('PATCH', definitionPath, { spec }, 'application/merge-patch+json')
}
