/**
 * `/logs/`: the node's `/var/log`, with listings of folders. Paths cannot leave it: symbolic links are resolved by the
 * kernel, and the opened file must be inside.
 */
import { createReadStream } from 'node:fs'
import { constants, type FileHandle, open, readdir, readlink, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { HttpError } from '../../../node/http-error.ts'
import type { Page } from '../../../node/server/served-nodes.ts'

const notFound = (): HttpError => new HttpError(404, '404 page not found\n')

/** `parts` are those of the path below `/logs/`, decoded. Rejects with an HttpError: 404, or 403. */
export async function systemLogsPage(root: string, parts: readonly string[], urlPath: string): Promise<Page> {
  if (parts.some((part) => part === '..' || part.includes('/') || part.includes('\0'))) throw notFound()
  const handle = await openInside(root, join(root, ...parts))
  try {
    const entry = await handle.stat()
    if (entry.isDirectory()) {
      if (!urlPath.endsWith('/')) return movedTo(`${parts.at(-1) ?? 'logs'}/`)
      const page = await listing(`/proc/self/fd/${handle.fd}`)
      await handle.close()
      return page
    }
    if (!entry.isFile() || urlPath.endsWith('/')) throw notFound()
    // The length is sent first: lines that are appended meanwhile belong to the next request.
    const text = entry.size === 0 ? '' : createReadStream('', { fd: handle, start: 0, end: entry.size - 1 })
    if (text === '') await handle.close()
    return {
      type: 'text/plain; charset=utf-8',
      text,
      headers: { 'content-length': String(entry.size), 'last-modified': entry.mtime.toUTCString() },
    }
  } catch (error) {
    await handle.close().catch(() => {})
    throw error
  }
}

async function openInside(root: string, path: string): Promise<FileHandle> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch((error) => {
    throw error.code === 'EACCES' ? new HttpError(403, '403 Forbidden\n') : notFound()
  })
  const [opened, folder] = await Promise.all([readlink(`/proc/self/fd/${handle.fd}`), realpath(root)])
  if (opened === folder || opened.startsWith(`${folder}/`)) return handle
  await handle.close()
  throw notFound()
}

const movedTo = (location: string): Page => ({ status: 301, type: 'text/plain', text: '', headers: { location } })

async function listing(folder: string): Promise<Page> {
  const entries = await readdir(folder, { withFileTypes: true })
  const names = entries.map((entry) => `${entry.name}${entry.isDirectory() ? '/' : ''}`).sort()
  const lines = names.map((name) => `<a href="${hrefOf(name)}">${escaped(name)}</a>\n`)
  const head = '<!doctype html>\n<meta name="viewport" content="width=device-width">\n'
  return { type: 'text/html; charset=utf-8', text: `${head}<pre>\n${lines.join('')}</pre>\n` }
}

/** A name with a colon must not be read as a scheme. */
function hrefOf(name: string): string {
  const encoded = name.split('/').map(encodeURIComponent).join('/')
  return name.includes(':') ? `./${encoded}` : encoded
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&#34;',
  "'": '&#39;',
}

const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character] ?? character)
