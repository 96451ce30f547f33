# TeamsClone, Environment Specification: API Response Format
{
  "success": true,
  "state": { ... },      # Present in reset, state, step
  "reward": 0.1,         # Present in step
  "done": false,         # Present in step
  "info": { ... },       # Present in step
  "message": "...",      # Optional status message
  "error": "..."         # Present if success=false
}
