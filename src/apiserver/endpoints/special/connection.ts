/**
 * Admission of connections to pods, services and nodes: the operation `CONNECT`, with the options of the request as the
 * object.
 */
import type { KubeObject } from '../../../machinery/object.ts'
import { flagParameter, integerParameter } from '../../request-options/parameters.ts'
import { admit } from '../admitted.ts'
import { type Target, writeContext } from '../endpoint.ts'

type Fields = Readonly<Record<string, unknown>>

const flags = ['stdin', 'stdout', 'stderr', 'tty']

const streams = (query: URLSearchParams): Fields =>
  Object.fromEntries(flags.flatMap((name) => (flagParameter(query, name) ? [[name, true]] : [])))

const text = (query: URLSearchParams, name: string): Fields => {
  const value = query.get(name)
  return value ? { [name]: value } : {}
}

/** By subresource: the kind of its options, and how to read them. */
const options: Readonly<Record<string, { readonly kind: string; readonly read: (query: URLSearchParams) => Fields }>> =
  {
    attach: { kind: 'PodAttachOptions', read: (query) => ({ ...streams(query), ...text(query, 'container') }) },
    exec: {
      kind: 'PodExecOptions',
      read: (query) => ({
        ...streams(query),
        ...text(query, 'container'),
        ...(query.has('command') && { command: query.getAll('command') }),
      }),
    },
    portforward: {
      kind: 'PodPortForwardOptions',
      read: (query) => (query.has('ports') ? { ports: portsOf(query) } : {}),
    },
  }

const portsOf = (query: URLSearchParams): number[] =>
  query.getAll('ports').flatMap((port) => integerParameter(new URLSearchParams({ ports: port }), 'ports') ?? [])

const proxyKinds: Readonly<Record<string, string>> = {
  pods: 'PodProxyOptions',
  services: 'ServiceProxyOptions',
  nodes: 'NodeProxyOptions',
}

/** Runs admission for a connection. Throws a StatusError if it is rejected. */
export async function admitConnection(target: Target): Promise<void> {
  const { query, info } = target.request
  const { subresource, resource } = info
  const known = options[subresource]
  const kind = known?.kind ?? proxyKinds[resource] ?? ''
  const fields = known ? known.read(query) : { path: `/${info.rest.join('/')}` }
  const object = { kind, apiVersion: 'v1', ...fields } as KubeObject
  const context = writeContext(target, { dryRun: false, fieldManager: '', fieldValidation: 'Ignore', force: false })
  await admit(context, 'CONNECT', object, { group: '', version: 'v1', kind })
}
