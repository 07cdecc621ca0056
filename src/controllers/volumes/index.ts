/** Volumes and claims: who gets which, and when they go. */
import type { ControllerDescriptor } from '../descriptor.ts'
import { claimProtection } from './protection/claims.ts'
import { volumeProtection } from './protection/volumes.ts'

export const controllers: readonly ControllerDescriptor[] = [
  { name: 'persistentvolumeclaim-protection-controller', aliases: ['pvc-protection'], account: 'pvc-protection-controller', make: () => claimProtection },
  { name: 'persistentvolume-protection-controller', aliases: ['pv-protection'], account: 'pv-protection-controller', make: () => volumeProtection },
]
