/** The image of sandboxes, which older runtimes do not pin. */
import type { CriRuntime } from '../../cri/runtime.ts'

/** Undefined for a runtime that does not show its configuration. Rejects if the runtime does not answer. */
export async function sandboxImageOf(runtime: Pick<CriRuntime, 'status'>): Promise<string | undefined> {
  const { config } = (await runtime.status(true)).info
  if (config === undefined) return undefined
  try {
    const { sandboxImage } = JSON.parse(config) as { readonly sandboxImage?: unknown }
    return typeof sandboxImage === 'string' && sandboxImage !== '' ? sandboxImage : undefined
  } catch {
    return undefined
  }
}
