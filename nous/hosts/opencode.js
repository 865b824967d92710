// Plugin of OpenCode 1.x that reports sessions to nous, and puts notes from earlier ones before the agent.
// Written by `nous install opencode`; `nous install opencode --uninstall` removes it.
import { spawn, spawnSync } from "node:child_process"
import { mkdirSync, renameSync, writeFileSync } from "node:fs"
import { join } from "node:path"

const PYTHON = "@PYTHON@"
const HOOK = "@HOOK@"
const SESSIONS = "@SESSIONS@"

// OpenCode keeps sessions in a database: the session is written as `opencode export` prints it.
async function save(client, id) {
  const [session, messages] = await Promise.all([
    client.session.get({ path: { id } }),
    client.session.messages({ path: { id } }),
  ])
  if (!session?.data || session.data.parentID || !messages?.data?.length) return null // a sub-agent, or empty
  const path = join(SESSIONS, `${id}.json`)
  mkdirSync(SESSIONS, { recursive: true, mode: 0o700 })
  writeFileSync(`${path}.part`, JSON.stringify({ info: session.data, messages: messages.data }), { mode: 0o600 })
  renameSync(`${path}.part`, path)
  return path
}

function report(event, payload) {
  const hook = spawn(PYTHON, ["-I", "-S", HOOK, "opencode", event], { stdio: ["pipe", "ignore", "ignore"], detached: true })
  hook.on("error", () => {})
  hook.stdin.on("error", () => {})
  hook.stdin.end(JSON.stringify(payload))
  hook.unref()
}

function notes(payload) {
  const command = ["-I", "-S", HOOK, "opencode", "session.created", "--notes"]
  const ran = spawnSync(PYTHON, command, { input: JSON.stringify(payload), encoding: "utf8", timeout: 5000 })
  return ran.stdout ? JSON.parse(ran.stdout).notes : ""
}

export const NousPlugin = async ({ client, directory }) => {
  const known = new Map()
  const told = async (event, id) => {
    try {
      const path = await save(client, id)
      if (path) report(event, { session_id: id, transcript_path: path, cwd: directory })
    } catch {} // an agent must never notice
  }
  return {
    event: async ({ event }) => {
      if (event?.type === "session.idle") await told("session.idle", event.properties?.sessionID)
    },
    "experimental.session.compacting": async ({ sessionID }, output) => {
      await told("session.compacting", sessionID)
      if (known.get(sessionID)) output.context.push(known.get(sessionID))
      known.delete(sessionID)
    },
    "experimental.chat.system.transform": async ({ sessionID }, output) => {
      if (!sessionID) return // OpenCode asks for a title
      try {
        if (!known.has(sessionID)) known.set(sessionID, notes({ session_id: sessionID, cwd: directory }))
        if (known.get(sessionID)) output.system.push(known.get(sessionID))
      } catch {}
    },
  }
}
