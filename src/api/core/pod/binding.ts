/** Bindings: bind a pod to a node. Never stored; a create changes the pod. */
import type { V1Binding } from '@kubernetes/client-node'
import type { Model } from '../../../machinery/object.ts'
import { resource } from '../../resource.ts'

export const bindings = resource<Model<V1Binding>>({
  group: '',
  version: 'v1',
  kind: 'Binding',
  plural: 'bindings',
  scope: 'Namespaced',
  verbs: ['create'],
  virtual: true,
})
