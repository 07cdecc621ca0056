import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { Script } from 'node:vm'
import { gunzipSync } from 'node:zlib'
import type { TraceData } from './trace-data.ts'
import { tracePage } from './trace-page.ts'

const data: TraceData = {
  ...{ format: 'typernetes trace', formatVersion: 1, test: { name: '</script><script>alert(1)</script>' } },
  ...{ begin: 1, end: 2, requests: [], versions: [], objects: [] },
  losses: { requests: 0, bodies: 0, versions: 0, objects: 0, notes: [] },
}

test('the page has all of the trace in itself, and data that cannot end their element', () => {
  const page = tracePage(data)
  assert.doesNotMatch(page, /alert|https?:\/\/(?!www\.w3\.org\/2000\/svg)|\{\{/)
  const scripts = [...page.matchAll(/<script[^>]*>([\s\S]*?)<\/script>/g)].map(([, text = '']) => text)
  assert.equal(scripts.length, 2)
  // Throws for a script that is cut or escaped wrongly.
  new Script(scripts[1]!)
  assert.deepEqual(JSON.parse(gunzipSync(Buffer.from(scripts[0]!, 'base64')).toString()), data)
})

test('the policy of the page admits its own script and style only', () => {
  const page = tracePage(data)
  const policy = /Content-Security-Policy" content="([^"]+)"/.exec(page)?.[1]
  const hash = (tag: string): string => {
    const text = page.split(`<${tag}>`)[1]?.split(`</${tag}>`)[0] ?? ''
    return `'sha256-${createHash('sha256').update(text).digest('base64')}'`
  }
  assert.equal(
    policy,
    `default-src 'none'; script-src ${hash('script')}; style-src ${hash('style')}; base-uri 'none'; form-action 'none'`,
  )
})
