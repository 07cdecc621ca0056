/** Rules of CSIDriver objects for volumes. Messages are upstream's. */
import type { CSIDriver } from '../../../../client/kinds.ts'
import { MountError } from '../../volume-plugin.ts'
import type { CsiVolume } from './csi-volume.ts'

/** Throws a MountError if the driver does not have volumes of this life. Without an object it has persistent ones. */
export function checkLifecycle({ driver: name, isEphemeral, isBlock }: CsiVolume, driver: CSIDriver | undefined): void {
  const modes = driver ? (driver.spec?.volumeLifecycleModes ?? ['Persistent']) : undefined
  const mode = isEphemeral ? 'Ephemeral' : 'Persistent'
  if (modes ? modes.includes(mode) : !isEphemeral) return
  const reason = modes ? `only supports [${modes.map((one) => `"${one}"`).join(' ')}]` : 'no CSIDriver object'
  throw new MountError(
    isBlock ? 'MapVolume.NewBlockVolumeMapper initialization failed' : 'MountVolume.NewMounter initialization failed',
    `volume mode "${mode}" not supported by driver ${name} (${reason})`,
  )
}

/** True if the kubelet changes the group of the files (`fsGroupPolicy`). */
export function setsGroup({ fsType, accessModes, isReadOnly }: CsiVolume, driver: CSIDriver | undefined): boolean {
  const { fsGroupPolicy = 'ReadWriteOnceWithFSType' } = driver?.spec ?? {}
  if (isReadOnly || fsGroupPolicy === 'None') return false
  if (fsGroupPolicy === 'File') return true
  return fsType !== '' && accessModes.some((mode) => mode === 'ReadWriteOnce' || mode === 'ReadWriteOncePod')
}
