/**
 * Rewrites the links of an HTML page that a pod, a Service or a node serves through the proxy, as kube-apiserver does:
 * a link `/style.css` leads to the backend, not to the API server. All other bytes stay as they are.
 */
import { once } from 'node:events'
import { pipeline, type Transform, type TransformCallback, Writable } from 'node:stream'
import { createDeflateRaw, createGunzip, createGzip, createInflateRaw } from 'node:zlib'
import { RewritingStream } from 'parse5-html-rewriting-stream'
import type { Sink } from '../http/exchange.ts'

/** The attributes with addresses, by element (HTML 4.01, index of attributes). */
const addressAttributes: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    a: ['href'],
    applet: ['codebase'],
    area: ['href'],
    audio: ['src'],
    base: ['href'],
    blockquote: ['cite'],
    body: ['background'],
    button: ['formaction'],
    command: ['icon'],
    del: ['cite'],
    embed: ['src'],
    form: ['action'],
    frame: ['longdesc', 'src'],
    head: ['profile'],
    html: ['manifest'],
    iframe: ['longdesc', 'src'],
    img: ['longdesc', 'src', 'usemap'],
    input: ['src', 'usemap', 'formaction'],
    ins: ['cite'],
    link: ['href'],
    object: ['classid', 'codebase', 'data', 'usemap'],
    q: ['cite'],
    script: ['src'],
    source: ['src'],
    video: ['poster', 'src'],
  }),
)

/** Bytes of one comment or tag. A page with more of them is cut off, so that a backend cannot fill the memory. */
const maxHeld = 8 * 1024 * 1024
/** The backlog in bytes of a slow client at which reading from the backend pauses. */
const maxBacklog = 256 * 1024

/** Decompresses a page, and compresses it again. */
const codings: Readonly<Record<string, () => readonly [Transform, Transform] | readonly []>> = {
  '': () => [],
  gzip: () => [createGunzip(), createGzip()],
  deflate: () => [createInflateRaw(), createDeflateRaw()],
}

/** True for the value of `Content-Encoding` of a page whose links can be rewritten. */
export const isReadable = (encoding: string): boolean => Object.hasOwn(codings, encoding)

type Rewrite = (address: string) => string

/** Returns the sink for a backend's page, which writes the page with the links that `rewrite` returns to `client`. */
export function pageSink(client: Sink, encoding: string, rewrite: Rewrite): Sink {
  const [decode, encode] = codings[encoding]!()
  // Latin-1 keeps bytes of every encoding of the page as they are.
  decode?.setEncoding('latin1')
  const links = new LinkStream(rewrite)
  const first = decode ?? links
  const stages = [...(decode ? [decode] : []), links, ...(encode ? [encode] : []), clientStream(client)]
  for (const stage of stages) stage.setDefaultEncoding('latin1')
  pipeline(stages, (error) => error && client.destroy())
  client.onClose(() => first.destroy())
  return {
    write: (chunk) => void first.write(decode ? chunk : chunk.toString('latin1')),
    get backlog() {
      return client.backlog + first.writableLength
    },
    async ready() {
      await client.ready()
      if (first.writableNeedDrain && !first.destroyed) await once(first, 'drain').catch(() => {})
    },
    end: () => void first.end(),
    destroy() {
      first.destroy()
      client.destroy()
    },
    onClose: (callback) => client.onClose(callback),
  }
}

const clientStream = (client: Sink): Writable =>
  new Writable({
    write(chunk: Buffer, _encoding, done) {
      client.write(chunk)
      if (client.backlog < maxBacklog) done()
      else void client.ready().then(() => done())
    },
    final(done) {
      client.end()
      done()
    },
  })

/** Passes a page on, in Latin-1, with other addresses in its tags. */
class LinkStream extends RewritingStream {
  /** Bytes of the comment or tag that has not ended yet, at least. */
  #held = 0

  constructor(rewrite: Rewrite) {
    super()
    this.on('startTag', ({ tagName, sourceCodeLocation }, tag) => {
      const names = addressAttributes.get(tagName)
      this.emitRaw(names && sourceCodeLocation ? withAddresses(tag, sourceCodeLocation, names, rewrite) : tag)
    })
  }

  override _transform(chunk: string, encoding: string, done: TransformCallback): void {
    this.#held += chunk.length
    if (this.#held > maxHeld) done(new Error(`a comment or tag of the page has more than ${maxHeld} bytes`))
    else super._transform(chunk, encoding, done)
  }

  override emitRaw(html: string): void {
    this.#held = 0
    super.emitRaw(html)
  }
}

interface Range {
  readonly startOffset: number
  readonly endOffset: number
}

/** The place of a tag in the page, and of its attributes by name. */
interface TagLocation extends Range {
  readonly attrs?: Readonly<Record<string, Range>>
}

/** Returns a start tag with rewritten values of the attributes in `names`; the rest of its text stays. */
function withAddresses(
  tag: string,
  { startOffset, attrs = {} }: TagLocation,
  names: readonly string[],
  rewrite: Rewrite,
): string {
  const found = names.flatMap((name) => attrs[name] ?? []).sort((a, b) => b.startOffset - a.startOffset)
  let text = tag
  for (const at of found) {
    const [start, end] = [at.startOffset - startOffset, at.endOffset - startOffset]
    text = text.slice(0, start) + withAddress(text.slice(start, end), rewrite) + text.slice(end)
  }
  return text
}

/** Rewrites the value of `name="value"`, with quotation marks or without. */
const withAddress = (attribute: string, rewrite: Rewrite): string =>
  attribute.replace(
    /^([^=]*=\s*)(["']?)(.*?)(\2)$/s,
    (_, name: string, quote: string, value: string) => `${name}${quote}${rewrite(value.trim())}${quote}`,
  )
