/** Discovery's documents, encoded once: by path, and for `/api` and `/apis` by form too. */
import { createHash } from 'node:crypto'
import type { ResourceRegistry } from '../../api/registry.ts'
import { type AggregatedVersion, groupDiscoveryList } from './aggregated.ts'
import { apiGroup, apiGroupList, apiResourceList, apiVersions, groupVersionText } from './legacy.ts'

export interface DiscoveryDocument {
  readonly body: Buffer
  /** Quoted, as the header wants it. */
  readonly etag: string
  readonly contentType: string
}

/** The forms of one path; aggregated ones only where there are some. */
export interface DiscoveryForms {
  readonly legacy: DiscoveryDocument
  readonly v2?: DiscoveryDocument
  readonly v2beta1?: DiscoveryDocument
}

type Source = Pick<ResourceRegistry, 'groups' | 'group' | 'storageOf'>

const aggregatedType = (version: AggregatedVersion): string => `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`

/** All documents by path, without a slash at the end. `address` is the server's host and port. */
export function discoveryForms(registry: Source, address: string): ReadonlyMap<string, DiscoveryForms> {
  const core = registry.group('')
  const named = registry.groups.filter(({ group }) => group !== '')
  const forms = new Map<string, DiscoveryForms>([
    ['/api', { legacy: document(apiVersions(core, address)), ...aggregated(core ? [core] : []) }],
    ['/apis', { legacy: document(apiGroupList(registry.groups)), ...aggregated(named) }],
  ])
  for (const group of registry.groups) {
    if (group.group) forms.set(`/apis/${group.group}`, { legacy: document(apiGroup(group)) })
    for (const version of group.versions)
      forms.set(`/${group.group ? 'apis' : 'api'}/${groupVersionText(version)}`, { legacy: document(apiResourceList(version, registry.storageOf)) })
  }
  return forms
}

const aggregated = (groups: Source['groups']) => ({
  v2: document(groupDiscoveryList(groups, 'v2'), aggregatedType('v2')),
  v2beta1: document(groupDiscoveryList(groups, 'v2beta1'), aggregatedType('v2beta1')),
})

function document(value: unknown, contentType = 'application/json'): DiscoveryDocument {
  const body = Buffer.from(JSON.stringify(value))
  return { body, etag: `"${createHash('sha512').update(body).digest('hex').toUpperCase()}"`, contentType }
}
