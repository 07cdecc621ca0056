/** TUN devices: interfaces whose packets a program reads and writes (Documentation/networking/tuntap.rst). */
import { closeSync, constants, openSync } from 'node:fs'
import { errorCode } from '../../../../lib/explained-error.ts'
import { cLibrary } from '../../../../lib/linux/c-library.ts'

const file = '/dev/net/tun'
/** TUNSETIFF and TUNSETPERSIST. */
const requests = { attach: 0x400454ca, persist: 0x400454cb } as const
/** IFF_TUN and IFF_NO_PI: IP packets without a header of the device. */
const plainPackets = 0x1001
/** `struct ifreq`: the name, then the flags. */
const request = { size: 40, nameSize: 16 } as const

/**
 * Opens the device with the name, which is created if it is missing. It does not block. The device remains when it is
 * closed, so that addresses and routes survive a restart.
 * @throws an Error with a sentence: the module is missing, another program has the device, or the name is used.
 */
export function openTun(name: string): number {
  let fd: number
  try {
    fd = openSync(file, constants.O_RDWR | constants.O_NONBLOCK)
  } catch (error) {
    throw new Error(
      errorCode(error) === 'ENOENT' || errorCode(error) === 'ENODEV' || errorCode(error) === 'ENXIO'
        ? `${file} does not work: the kernel lacks the module tun. Load it with modprobe tun (in a pod, mount ${file})`
        : `cannot open ${file}: ${errorCode(error)}. flannel needs root, and in a pod NET_ADMIN`,
      { cause: error },
    )
  }
  try {
    attach(fd, name)
    return fd
  } catch (error) {
    closeSync(fd)
    throw explained(error, name)
  }
}

function attach(fd: number, name: string): void {
  const { declare, check } = cLibrary()
  const bytes = Buffer.alloc(request.size)
  bytes.write(name, 0, request.nameSize - 1)
  bytes.writeUInt16LE(plainPackets, request.nameSize)
  const setName = declare<[number, number, Uint8Array]>('int ioctl(int fd, unsigned long request, uint8_t *value)')
  const setValue = declare<[number, number, number]>('int ioctl(int fd, unsigned long request, intptr_t value)')
  check(`open the device ${name}`, setName(fd, requests.attach, bytes))
  check(`keep the device ${name}`, setValue(fd, requests.persist, 1))
}

function explained(error: unknown, name: string): unknown {
  if (errorCode(error) === 'EBUSY')
    return new Error(`another program has the device ${name}: stop the other flannel of this node`, { cause: error })
  if (errorCode(error) === 'EINVAL')
    return new Error(`${name} is no TUN device: remove it with ip link delete ${name}`, { cause: error })
  return error
}
