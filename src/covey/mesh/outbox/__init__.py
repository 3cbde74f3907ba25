"""The messages that leave this member: durable before they are acknowledged, numbered, and kept until they arrived."""
