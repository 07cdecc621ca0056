/** The controller of StorageVersionMigrations. */
import { storageVersionMigrations } from '../../client/kinds.ts'
import type { ControllerDescriptor } from '../descriptor.ts'

export const controllers: readonly ControllerDescriptor[] = [
  {
    name: 'storage-version-migrator-controller',
    account: 'storage-version-migrator-controller',
    requires: [storageVersionMigrations],
    make: async ({ clock }) => (await import('./migrator.ts')).storageVersionMigrator(() => clock.now()),
  },
]
