/** Errors of a Dockerfile, with the place that has to be changed. */
import { ImageError } from '../../images/index.ts'

/** A line of a Dockerfile. */
export interface Place {
  /** As the user named it. */
  readonly file: string
  /** The first line is 1. */
  readonly line: number
}

/** The fault of an instruction, without its place. */
export class StepError extends Error {}

/** Such as `Dockerfile:3: …`. */
export const buildError = ({ file, line }: Place, message: string, cause?: unknown): ImageError =>
  new ImageError('InvalidArgument', `${file}:${line}: ${message}`, { cause })

/** Adds the place to the fault of an instruction, and to an error of an image. Other errors remain. */
export function atPlace(place: Place, error: unknown): unknown {
  if (error instanceof StepError) return buildError(place, error.message, error)
  const prefix = `${place.file}:${place.line}: `
  if (!(error instanceof ImageError) || error.code === 'Canceled' || error.message.startsWith(prefix)) return error
  return new ImageError(error.code, `${prefix}${error.message}`, { cause: error })
}
