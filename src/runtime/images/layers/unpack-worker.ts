/** The thread that unpacks layers, so that the process answers meanwhile. */
import { parentPort } from 'node:worker_threads'
import { messageOf } from '../../../lib/message-of.ts'
import { ImageError, type ImageErrorCode } from '../image-error.ts'
import { type UnpackedLayer, type UnpackTask, unpackLayer } from './unpack-layer.ts'

export type UnpackReport =
  | { readonly done: UnpackedLayer }
  | { readonly failed: { readonly code: ImageErrorCode; readonly message: string } }

parentPort?.on('message', async (task: UnpackTask) => {
  let report: UnpackReport
  try {
    report = { done: await unpackLayer(task) }
  } catch (error) {
    report = { failed: { code: error instanceof ImageError ? error.code : 'Unknown', message: messageOf(error) } }
  }
  parentPort?.postMessage(report)
})
