/** The folder of a volume. */
import { chmod, mkdir, stat } from 'node:fs/promises'
import { undefinedIfMissing } from '../../files/missing.ts'

/**
 * Makes the folder of a volume with exactly this mode; the umask does not apply. Resolves with false if it was there
 * with this mode. Default: every user of the pod may enter and write.
 */
export async function makeVolumeFolder(folder: string, mode = 0o777): Promise<boolean> {
  const present = await stat(folder).catch(undefinedIfMissing)
  if (present && (present.mode & 0o777) === mode) return false
  // The folders on the way are the kubelet's.
  await mkdir(folder, { recursive: true, mode: 0o750 })
  await chmod(folder, mode)
  return true
}
