/** The images of another program on this machine, such as containerd or a Docker engine. */
import type { Digest } from '../formats/digest.ts'
import type { StoredImage } from '../stored-image.ts'

export interface HostImages {
  /** For messages: `containerd (/run/containerd/containerd.sock)`. */
  readonly name: string
  /**
   * The digest by which the program knows the image of a complete name now: that of its configuration, its manifest or
   * its index. Undefined if it has no such image.
   */
  digestOf(imageName: string, signal?: AbortSignal): Promise<Digest | undefined>
  /** Copies the image into the store, by the same name. */
  copy(imageName: string, signal?: AbortSignal): Promise<StoredImage>
  close(): void
}
