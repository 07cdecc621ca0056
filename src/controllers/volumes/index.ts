/** Controllers of volumes and claims. */
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
        help: 'period of retrying pending volumes and claims',
        default: '15s',
      },
      {
        name: 'enable-dynamic-provisioning',
        type: 'boolean',
        help: 'provision volumes for claims whose class names a provisioner',
        default: 'true',
      },
      {
        name: 'enable-hostpath-provisioner',
        type: 'boolean',
        help: 'provision directories of this machine for classes with kubernetes.io/host-path',
        default: 'false',
      },
      {
        name: 'hostpath-provisioner-directory',
        type: 'text',
        help: 'parent of the directories of kubernetes.io/host-path',
        default: '/tmp/hostpath_pv',
      },
    ],
    make: async ({ clock }, flags, registry) =>
      (await import('./binder/controller.ts')).volumeBinder({
        registry,
        syncPeriodMs: flags.duration('pvclaimbinder-sync-period'),
        dynamicProvisioning: flags.boolean('enable-dynamic-provisioning'),
        hostPath: {
          enabled: flags.boolean('enable-hostpath-provisioner'),
          directory: flags.text('hostpath-provisioner-directory'),
        },
        now: () => clock.now(),
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
        help: 'period of retrying failed attachments',
        default: '1m',
      },
      {
        name: 'disable-force-detach-on-timeout',
        type: 'boolean',
        help: 'detach volumes from an unresponsive node only after it is tainted as out of service',
        default: 'false',
      },
    ],
    make: async ({ clock }, flags, registry) =>
      (await import('./attachment/controller.ts')).attachDetach({
        registry,
        maxWaitForUnmountMs: 6 * 60_000,
        syncPeriodMs: flags.duration('attach-detach-reconcile-sync-period'),
        neverForce: flags.boolean('disable-force-detach-on-timeout'),
        now: () => clock.now(),
      }),
  },
]
