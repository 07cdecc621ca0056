import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseXml } from './xml-element.ts'

test('elements, lists, texts with entities and empty elements are read', () => {
  const root = parseXml(`<?xml version="1.0" encoding="UTF-8"?>
<Answer xmlns="http://ec2.example/">
  <!-- <b>comment</b> -->
  <routeSet><item><id>a &amp; &#x3c;b&gt;</id></item><item><id/></item></routeSet>
</Answer>`)
  assert.equal(root.name, 'Answer')
  assert.deepEqual(
    root.items('routeSet').map((item) => item.textOf('id')),
    ['a & <b>', ''],
  )
  assert.equal(root.textOf('routeSet/missing'), '')
  for (const text of ['', 'busy', '<a><b></a>', '<a>', '</a>']) assert.throws(() => parseXml(text), text)
})
