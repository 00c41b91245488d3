// Lines {html, url} on stdin -> lines {title, content, fingerprint, milliseconds, error} on stdout.
// node javascript.mjs FOLDER_WITH_NODE_MODULES

import { createHash } from 'node:crypto'
import { createRequire } from 'node:module'
import { createInterface } from 'node:readline'
import { join } from 'node:path'

const require = createRequire(join(process.argv[2], 'package.json'))
const { JSDOM, VirtualConsole } = require('jsdom')
const { Readability } = require('@mozilla/readability')
const TurndownService = require('turndown')

const turndown = new TurndownService({ headingStyle: 'atx', codeBlockStyle: 'fenced' })

function read (html, url) {
  const page = new JSDOM(html, { url: url || undefined, virtualConsole: new VirtualConsole() })
  try {
    const article = new Readability(page.window.document).parse()
    const content = article?.content ?? ''
    const markdown = content ? turndown.turndown(content) : ''
    return { title: article?.title ?? '', content, fingerprint: simhash(shingles(markdown)) }
  } finally {
    page.window.close()
  }
}

function shingles (text) {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
  if (words.length > 0 && words.length < 3) return [words.join(' ')]
  return words.slice(2).map((_, i) => words.slice(i, i + 3).join(' '))
}

function simhash (features) {
  if (features.length === 0) return null
  const sums = new Int32Array(64)
  for (const feature of features) {
    const digest = createHash('md5').update(feature).digest()
    for (let bit = 0; bit < 64; bit++) sums[bit] += (digest[bit >> 3] >> (bit & 7)) & 1 ? 1 : -1
  }
  let value = 0n
  sums.forEach((sum, bit) => { if (sum > 0) value |= 1n << BigInt(bit) })
  return value.toString(16).padStart(16, '0')
}

for await (const line of createInterface({ input: process.stdin })) {
  const { html, url } = JSON.parse(line)
  const start = process.cpuUsage()
  let found = { title: '', content: '', fingerprint: null }
  let error = null
  try {
    found = read(html, url)
  } catch (failure) {
    error = String(failure)
  }
  const used = process.cpuUsage(start)
  const milliseconds = (used.user + used.system) / 1000
  process.stdout.write(JSON.stringify({ ...found, milliseconds, error }) + '\n')
}
