// stand-in until the real index is written
import { resource } from '../resource.ts'

export const resources = [
  resource({ group: '', version: 'v1', kind: 'Namespace', plural: 'namespaces', scope: 'Cluster', subresources: { status: true } }),
  resource({ group: '', version: 'v1', kind: 'ConfigMap', plural: 'configmaps', scope: 'Namespaced' }),
  resource({ group: '', version: 'v1', kind: 'Secret', plural: 'secrets', scope: 'Namespaced' }),
  resource({ group: '', version: 'v1', kind: 'Event', plural: 'events', scope: 'Namespaced' }),
  resource({ group: '', version: 'v1', kind: 'Pod', plural: 'pods', scope: 'Namespaced', subresources: { status: true } }),
]
