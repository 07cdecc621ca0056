/** The Lease of this server, if others share its store. */
import { keepIdentityLease } from '../identity/identity-leases.ts'
import { component } from './component.ts'

export const identity = component({
  name: 'identity',
  needs: ['registry', 'find', 'writer', 'log'],
  gives: [],
  start({ registry, find, writer, log }, lifetime) {
    // The only server of a store needs no name.
    if (registry.store.isShared)
      lifetime.onEnd(keepIdentityLease({ leases: find('coordination.k8s.io/v1/leases'), writer, log }))
    return {}
  },
})
