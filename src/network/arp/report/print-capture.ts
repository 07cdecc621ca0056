/** Prints the packets of a capture, live or from a file, and counts them. */
import { ArpExplainer, type CapturedFrame } from './captured-arp.ts'
import { packetLines, packetObject } from './packet-text.ts'

export interface ArpCapture {
  readonly frames: AsyncIterable<CapturedFrame>
  /** Bindings that the machine knows already. */
  readonly known: readonly KnownBinding[]
  /** Frames that were lost. */
  readonly takeDropped: () => number
  readonly close: () => void
}

export interface KnownBinding {
  readonly interface: string
  readonly address: string
  readonly hardware: string
  /** True if the host uses the address as its own. */
  readonly isOwn: boolean
}

export interface PrintOptions {
  readonly write: (text: string) => void
  /** Ends after so many packets. Default: none. */
  readonly count?: number | undefined
  readonly isHex: boolean
  readonly isJson: boolean
}

/** Resolves with a line of totals at the end of the capture, which it closes. */
export async function printCapture(capture: ArpCapture, options: PrintOptions): Promise<string> {
  const { write, count = Infinity, isHex, isJson } = options
  const explainer = new ArpExplainer()
  for (const { interface: name, address, hardware, isOwn } of capture.known)
    explainer.observerOf(name).learn(address, hardware, isOwn, 0)
  let packets = 0
  const marks = new Map<string, number>()
  const add = (mark: string): void => void marks.set(mark, (marks.get(mark) ?? 0) + 1)
  try {
    for await (const frame of capture.frames) {
      const captured = explainer.explain(frame)
      if (!captured) continue
      const lines = isJson ? [JSON.stringify(packetObject(captured))] : packetLines(captured, isHex)
      write(`${lines.join('\n')}\n`)
      if ('problem' in captured.decoded) add('malformed')
      for (const { kind } of captured.findings) add(kind)
      packets += 1
      if (packets >= count) break
    }
    const dropped = capture.takeDropped()
    const parts = [
      `${packets} ${packets === 1 ? 'packet' : 'packets'}`,
      ...[...marks].map(([mark, number]) => `${number} ${mark}`),
      ...(dropped > 0 ? [`${dropped} dropped by the kernel, because they came too fast`] : []),
    ]
    return `${parts.join(', ')}\n`
  } finally {
    capture.close()
  }
}
