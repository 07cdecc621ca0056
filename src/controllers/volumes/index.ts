/** Volumes and claims: who gets which, and when they go. */
import type { ControllerDescriptor } from '../descriptor.ts'
import { concurrencyFlag } from '../flags.ts'

export const controllers: readonly ControllerDescriptor[] = [
  {
    name: 'persistentvolume-binder-controller',
    queue: 'claims',
    aliases: ['persistentvolume-binder'],
    account: 'persistent-volume-binder',
    flags: [
      {
        name: 'pvclaimbinder-sync-period',
        type: 'duration',
        help: 'how often volumes and claims that wait are looked at again',
        default: '15s',
      },
      {
        name: 'enable-dynamic-provisioning',
        type: 'boolean',
        help: 'whether volumes are made for claims whose class says by whom',
        default: 'true',
      },
      {
        name: 'enable-hostpath-provisioner',
        type: 'boolean',
        help: 'whether classes with the provisioner kubernetes.io/host-path get directories of this machine',
        default: 'false',
      },
      {
        name: 'hostpath-provisioner-directory',
        type: 'text',
        help: 'what holds these directories',
        default: '/tmp/hostpath_pv',
      },
    ],
    make: async (_sources, flags, registry) =>
      (await import('./binder/controller.ts')).volumeBinder({
        registry,
        syncPeriodMs: flags.duration('pvclaimbinder-sync-period'),
        dynamicProvisioning: flags.boolean('enable-dynamic-provisioning'),
        hostPath: {
          enabled: flags.boolean('enable-hostpath-provisioner'),
          directory: flags.text('hostpath-provisioner-directory'),
        },
        now: Date.now,
      }),
  },
  {
    name: 'persistentvolumeclaim-protection-controller',
    queue: 'pvcprotection',
    aliases: ['pvc-protection'],
    account: 'pvc-protection-controller',
    make: async () => (await import('./protection/claims.ts')).claimProtection,
  },
  {
    name: 'persistentvolume-protection-controller',
    queue: 'pvprotection',
    aliases: ['pv-protection'],
    account: 'pv-protection-controller',
    make: async () => (await import('./protection/volumes.ts')).volumeProtection,
  },
  {
    name: 'volumeattributesclass-protection-controller',
    queue: 'vacprotection',
    account: 'volumeattributesclass-protection-controller',
    make: async () => (await import('./protection/attributes-classes.ts')).attributesClassProtection,
  },
  {
    name: 'ephemeral-volume-controller',
    queue: 'ephemeral_volume',
    aliases: ['ephemeral-volume'],
    account: 'ephemeral-volume-controller',
    flags: [concurrencyFlag('concurrent-ephemeralvolume-syncs', 'pods with ephemeral volumes', 5)],
    make: async (_sources, flags, registry) =>
      (await import('./ephemeral/controller.ts')).ephemeralVolumes(
        flags.number('concurrent-ephemeralvolume-syncs'),
        registry,
      ),
  },
  {
    name: 'persistentvolume-expander-controller',
    queue: 'volume_expand',
    aliases: ['persistentvolume-expander'],
    account: 'expand-controller',
    make: async () => (await import('./expansion/controller.ts')).volumeExpander(),
  },
  {
    name: 'persistentvolume-attach-detach-controller',
    queue: 'pvcs',
    aliases: ['attachdetach'],
    account: 'attachdetach-controller',
    flags: [
      {
        name: 'attach-detach-reconcile-sync-period',
        type: 'duration',
        help: 'how often what cannot be attached is looked at again',
        default: '1m',
      },
      {
        name: 'disable-force-detach-on-timeout',
        type: 'boolean',
        help: 'whether a node that does not answer keeps its volumes until it is tainted as out of service',
        default: 'false',
      },
    ],
    make: async (_sources, flags, registry) =>
      (await import('./attachment/controller.ts')).attachDetach({
        registry,
        maxWaitForUnmountMs: 6 * 60_000,
        syncPeriodMs: flags.duration('attach-detach-reconcile-sync-period'),
        neverForce: flags.boolean('disable-force-detach-on-timeout'),
        now: Date.now,
      }),
  },
]
