/** mount(2) and umount2(2), in the mount namespace of this process. */
import { cLibrary, ignoreErrors } from './c-library.ts'

/** MNT_DETACH and UMOUNT_NOFOLLOW. */
const detach = 2 | 8

/** MS_BIND. */
export const bindMount = 0x1000

interface MountCalls {
  /** The flags are those of mount(2), the data the options of the file system. */
  mount(source: string, target: string, type: string, flags: number, data: string): void
  /** Unmounts everything at a path, once nobody uses it any more. Does nothing if nothing is mounted there. */
  unmount(target: string): void
}

let loaded: MountCalls | undefined

/**
 * Loads the calls once for the thread. They throw a `SystemCallError`.
 * @throws if the optional package koffi is not installed.
 */
export function mountCalls(): MountCalls {
  loaded ??= load()
  return loaded
}

function load(): MountCalls {
  const { declare, check } = cLibrary()
  const mount = declare<[string, string, string, number, string]>(
    'int mount(const char *source, const char *target, const char *type, unsigned long flags, const char *data)',
  )
  const unmount = declare<[string, number]>('int umount2(const char *target, int flags)')
  return {
    mount: (source, target, type, flags, data) =>
      void check(`mount ${target}`, mount(source, target, type, flags, data)),
    unmount(target) {
      try {
        for (;;) check(`unmount ${target}`, unmount(target, detach))
      } catch (error) {
        // EINVAL: it is not, or no longer, a mount.
        ignoreErrors(error, 'EINVAL', 'ENOENT')
      }
    },
  }
}
