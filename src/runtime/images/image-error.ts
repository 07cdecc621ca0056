/** Errors of images with the code of gRPC that a CRI server answers with, and containerd's words. */

/** Names of gRPC's codes. `Unknown` is containerd's for a registry that denies access. */
export type ImageErrorCode =
  | 'Canceled'
  | 'Unknown'
  | 'InvalidArgument'
  | 'NotFound'
  | 'ResourceExhausted'
  | 'FailedPrecondition'
  | 'Unavailable'

export class ImageError extends Error {
  readonly code: ImageErrorCode

  constructor(code: ImageErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'ImageError'
    this.code = code
  }
}

/** The name, tag or digest is neither here nor at the registry. */
export const imageNotFound = (reference: string): ImageError => new ImageError('NotFound', `${reference}: not found`)

/** The name cannot be read. */
export const invalidReference = (message: string, cause?: unknown): ImageError =>
  new ImageError('InvalidArgument', message, { cause })

/** Content of an image that does not agree with its digest, its size or its format. */
export const corruptContent = (message: string, cause?: unknown): ImageError =>
  new ImageError('FailedPrecondition', message, { cause })
