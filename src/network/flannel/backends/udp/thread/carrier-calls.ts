/**
 * System calls of the thread that carries packets. They return -1 instead of throwing: EAGAIN is the usual end of each
 * loop. Memory is given by its address, which is the fastest way through koffi.
 */
import { cLibrary } from '../../../../../lib/linux/c-library.ts'

export type CarrierCalls = ReturnType<typeof carrierCalls>

/** @throws if koffi is not installed. */
export function carrierCalls() {
  const { declare, errno, addressOf } = cLibrary()
  return {
    errno,
    addressOf,
    read: declare<[fd: number, memory: number, size: number]>('intptr_t read(int fd, uintptr_t memory, size_t size)'),
    write: declare<[fd: number, memory: number, size: number]>('intptr_t write(int fd, uintptr_t memory, size_t size)'),
    poll: declare<[entries: number, count: number, ms: number]>(
      'int poll(uintptr_t entries, unsigned long count, int ms)',
    ),
    receiveMany: declare<[fd: number, messages: number, count: number, flags: number, timeout: number]>(
      'int recvmmsg(int fd, uintptr_t messages, unsigned int count, int flags, uintptr_t timeout)',
    ),
    sendMany: declare<[fd: number, messages: number, count: number, flags: number]>(
      'int sendmmsg(int fd, uintptr_t messages, unsigned int count, int flags)',
    ),
  }
}
