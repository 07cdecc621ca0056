/** Volumes and claims: who gets which, and when they go. */
import type { ControllerDescriptor } from '../descriptor.ts'

export const controllers: readonly ControllerDescriptor[] = [
  {
    name: 'persistentvolumeclaim-protection-controller',
    aliases: ['pvc-protection'],
    account: 'pvc-protection-controller',
    make: async () => (await import('./protection/claims.ts')).claimProtection,
  },
  {
    name: 'persistentvolume-protection-controller',
    aliases: ['pv-protection'],
    account: 'pv-protection-controller',
    make: async () => (await import('./protection/volumes.ts')).volumeProtection,
  },
]
