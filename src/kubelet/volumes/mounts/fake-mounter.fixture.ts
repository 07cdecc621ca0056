/** A mounter that only notes what is mounted, for tests without root. */
import { readlinkSync } from 'node:fs'
import type { MountPoint } from './mount-table.ts'
import type { Mounter, MountRequest } from './mounter.ts'

export class FakeMounter implements Mounter {
  readonly mounts: MountPoint[] = []
  /** All requests, with handles replaced by their paths. */
  readonly requests: MountRequest[] = []
  /** Fails the next mount. */
  failure: Error | undefined

  async list(): Promise<readonly MountPoint[]> {
    return this.mounts
  }

  async mount(request: MountRequest): Promise<void> {
    const { failure } = this
    this.failure = undefined
    if (failure) throw failure
    const { target, type = 'bind', options } = request
    const source = /^\/proc\/\d+\/fd\/\d+$/.test(request.source) ? readlinkSync(request.source) : request.source
    this.requests.push({ ...request, source })
    const isReadOnly = options.includes('ro')
    this.mounts.push({ target, root: source, device: '0:1', type, source, isReadOnly, options })
  }

  async unmount(target: string): Promise<void> {
    const index = this.mounts.findLastIndex((mount) => mount.target === target)
    if (index >= 0) this.mounts.splice(index, 1)
  }

  get targets(): string[] {
    return this.mounts.map(({ target }) => target)
  }
}
